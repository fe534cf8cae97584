// What the pages use of the SHA-2 family.

/** The 32 bytes of the SHA-256 of bytes. */
export function sha256(bytes: Uint8Array): Uint8Array;
