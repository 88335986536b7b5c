/**
 * HTML put together so that nothing in it can be mistaken for markup: every value is escaped and its
 * control characters spelled out, unless it is HTML that was made here.
 */
import { redact } from '../../policy/redaction/redaction.js';
import { plainText, sanitize } from '../../terminal/text/sanitize.js';

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Html | undefined | readonly Value[];

/** A tag for templates: `` html`<b>${name}</b>` ``. Attributes must stand in double quotes. */
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

/** As a coordinate: short, and never anything but digits. */
const figure = (value: number): string =>
  Number.isFinite(value) ? String(Math.round(value * 100) / 100) : '0';

/**
 * One line of what models, tools and files say. Secrets go once more: what hid one from those who looked
 * for it may be what was taken out.
 */
export const words = (text: string, longest = 200): string => redact(plainText(text, longest));
