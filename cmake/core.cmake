# The core (numeric contract section 7): standard library only, xxHash's single header apart.
add_compile_definitions($<$<BOOL:${ISOBIT_SANITIZE}>:ISOBIT_SANITIZED>)
