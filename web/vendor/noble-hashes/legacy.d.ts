// What the pages use of the older hashes.

/** The 20 bytes of the SHA-1 of bytes. */
export function sha1(bytes: Uint8Array): Uint8Array;
