/** How many columns of a terminal a text takes, near enough to place a cursor. */

const ZERO = /^[\p{Mn}\p{Me}\u200b-\u200f\u2060]$/u;
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]$/u;

export const characterWidth = (character: string): number => {
  if (character < '\u0300') return 1;
  if (ZERO.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
};

export const textWidth = (text: string): number => {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
};
