/**
 * The address of a file in this folder, of the same release as this module.
 * @param {string} name
 */
export const fileAddress = (name) => new URL(name, import.meta.url).href;
