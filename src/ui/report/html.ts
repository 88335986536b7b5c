/**
 * HTML templates that escape every value and spell out control characters.
 *
 * Only `Html` values are inserted as they are.
 */
import { redact } from '../../policy/redaction/redact.js';
import { plainText, sanitize } from '../../terminal/text/sanitize.js';

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Html | undefined | readonly Value[];

/** Template tag: `` html`<b>${name}</b>` ``. Attribute values must be in double quotes. */
export const html = (parts: TemplateStringsArray, ...values: readonly Value[]): Html =>
  new Html(parts.reduce((text, part, at) => `${text}${textOf(values[at - 1])}${part}`));

const textOf = (value: Value): string => {
  if (value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'string') return escaped(sanitize(value));
  if (typeof value === 'number') return figure(value);
  return value.map(textOf).join('');
};

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"'`]/g, (character) => ENTITIES[character] ?? '');

/** Formats a coordinate with at most two decimals; 0 if it is not finite. */
const figure = (value: number): string =>
  Number.isFinite(value) ? String(Math.round(value * 100) / 100) : '0';

/**
 * Returns text of models, tools and files as one redacted line. Redacts again after `plainText`, because an invisible
 * character may have hidden a secret from the first redaction.
 */
export const redactedText = (text: string, maxLength = 200): string =>
  redact(plainText(text, maxLength));
