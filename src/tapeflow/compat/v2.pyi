from tapeflow import *
