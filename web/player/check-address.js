/** Where a round's amounts are checked, as a part of this page's address, so that it can be shared. @param {string} round its id */
export const checkAddress = (round) => `#check/${round}`;

/** The round that an address wants checked, or ''. @param {string} hash as in location.hash */
export const roundToCheck = (hash) => /^#check\/([0-9a-f-]{36})$/.exec(hash)?.[1] ?? '';
