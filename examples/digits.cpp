// Reads a digit, 784 float32 numbers, by a model that was
// converted to "aoti":
//
//     digits digits.pt2 image.bin

#include <ATen/ATen.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <fstream>
#include <iostream>

int main(int, char** argv) {
  torch::inductor::AOTIModelPackageLoader model(argv[1]);
  at::Tensor image = at::empty({1, 28, 28, 1});
  std::ifstream file(argv[2], std::ios::binary);
  file.read(static_cast<char*>(image.data_ptr()), image.nbytes());
  at::Tensor logits = model.run({image})[0];
  int64_t digit = logits.argmax().item<int64_t>();
  std::cout << "C++ reads a " << digit << std::endl;
}
