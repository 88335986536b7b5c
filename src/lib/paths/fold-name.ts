/**
 * Returns one spelling for all names that some file system treats as equal: folds case and Unicode
 * composition, and drops invisible characters.
 */
export const foldName = (name: string): string =>
  PLAIN.test(name)
    ? name.toLowerCase()
    : // Upper case first, because some letters reach their lower-case form only through the upper-case form.
      name.normalize('NFC').replaceAll(INVISIBLE, '').toUpperCase().toLowerCase().normalize('NFC');

const PLAIN = /^[\x20-\x7e]*$/;
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;
