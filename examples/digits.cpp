// Reads an image of a digit by a model that `python -m tapeflow convert MODEL --to aoti --output digits.pt2` compiled.
//
//     digits digits.pt2 image.bin        (784 float32 numbers)

#include <ATen/ATen.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <fstream>
#include <iostream>

int main(int, char** argv) {
  torch::inductor::AOTIModelPackageLoader model(argv[1]);
  at::Tensor image = at::empty({1, 28, 28, 1});
  std::ifstream(argv[2], std::ios::binary).read(static_cast<char*>(image.data_ptr()), image.nbytes());
  at::Tensor logits = model.run({image})[0];
  std::cout << "C++ reads a " << logits.argmax().item<int64_t>() << std::endl;
}
