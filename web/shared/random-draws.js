import { sha1 } from '../vendor/noble-hashes/legacy.js';

const DRAW_DIGITS = 13;
const DRAWS_PER_HASH = 3;

const utf8 = new TextEncoder();

/** @param {Uint8Array} bytes */
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** The endless sequence of 52-bit draws under a label of a secret. */
export class Draws {
  #prefix;
  #block = -1;
  #digest = '';

  /** @param {string} secret @param {'live'|'dealt'|'shuffle'|'drop'} label */
  constructor(secret, label) {
    this.#prefix = `${secret}:${label}:`;
  }

  /** Draw n, from 0. @param {number} n */
  at(n) {
    const block = Math.floor(n / DRAWS_PER_HASH);
    if (block !== this.#block) {
      this.#digest = hex(sha1(utf8.encode(this.#prefix + block)));
      this.#block = block;
    }
    const from = DRAW_DIGITS * (n % DRAWS_PER_HASH);
    return Number.parseInt(this.#digest.slice(from, from + DRAW_DIGITS), 16);
  }
}
