// tessera-manual: prints the manual page of tessera, while it is built.
#include "lib/command/ManPage.h"
#include "lib/version/Version.h"

#include <cstdio>

int main() { std::fputs(tessera::command::manPage(tessera::versionText()).c_str(), stdout); }
