/** Page content: detects the type of a fetched page and decodes its text. */
import { Buffer } from 'node:buffer';
import type { WebPage } from '../../protocol/tools/web.js';
import { fileKind } from '../file-access/file-kind.js';
import { htmlToMarkdown } from './html-to-markdown.js';

export type PageContent =
  | { readonly kind: 'text'; readonly title: string; readonly text: string; readonly cut: boolean }
  | { readonly kind: 'image'; readonly mediaType: string }
  | { readonly kind: 'pdf' }
  | { readonly kind: 'binary'; readonly guess: string };

/** Maximum characters of a page. */
const MAX_CHARACTERS = 2_000_000;

/** Rejects with the signal's reason once aborted. */
export const pageContent = async (page: WebPage, signal: AbortSignal): Promise<PageContent> => {
  const { body, contentType, address } = page;
  const mediaType = mediaTypeOf(contentType);
  const file = fileKind(body);
  if (file.kind === 'image' || file.kind === 'pdf') return file;
  const charset = charsetOf(body, contentType, mediaType);
  // Only UTF-16 text contains zero bytes.
  const isText = file.kind === 'text' || (isTextual(mediaType) && !isForeign(body, charset));
  if (!isText) {
    const guess = /^not valid/.test(file.guess) ? mediaType : file.guess;
    return { kind: 'binary', guess: guess || 'binary data' };
  }
  const text = decode(body, charset);
  if (isHtml(mediaType, text)) {
    const limit = MAX_CHARACTERS;
    const { title, markdown, cut } = await htmlToMarkdown(text, { address, limit, signal });
    return { kind: 'text', title, text: markdown, cut };
  }
  const cut = text.length > MAX_CHARACTERS;
  return { kind: 'text', title: '', text: cut ? text.slice(0, MAX_CHARACTERS) : text, cut };
};

/** Returns `text/html` for `Text/HTML; charset=x`, and an empty text for an invalid type. */
export const mediaTypeOf = (contentType: string): string =>
  /^\s*([\w.+-]{1,60}\/[\w.+-]{1,60})\s*(?:;|,|$)/.exec(contentType)?.[1]?.toLowerCase() ?? '';

const isTextual = (mediaType: string) =>
  mediaType === '' ||
  mediaType.startsWith('text/') ||
  /[/+](?:json|xml|yaml|javascript|ecmascript|xhtml\+xml|x-sh|sql|toml|x-ndjson)$/.test(mediaType);

const isHtml = (mediaType: string, text: string) => {
  if (mediaType === 'text/html' || mediaType === 'application/xhtml+xml') return true;
  return mediaType === '' && /^\s*<(?:!doctype html|html)\b/i.test(text.slice(0, 1_000));
};

const isForeign = (body: Uint8Array, charset: string) =>
  !charset.startsWith('utf-16') && body.subarray(0, 8_000).includes(0);

const BYTE_ORDER: readonly (readonly [readonly number[], string])[] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
];
/** Charset declaration, searched in the first kilobyte as in browsers. */
const META = /<meta\s[^>]{0,200}?charset\s{0,9}=\s{0,9}["']?\s{0,9}([\w.:-]{1,40})/i;

const charsetOf = (body: Uint8Array, contentType: string, mediaType: string): string => {
  const mark = BYTE_ORDER.find(([bytes]) => bytes.every((byte, at) => body[at] === byte));
  if (mark !== undefined) return mark[1];
  const named = /;\s*charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(contentType.slice(0, 300))?.[1];
  const isPage = mediaType === '' || /html|xml/.test(mediaType);
  const inPage = () => {
    const head = Buffer.from(body.subarray(0, 1_024)).toString('latin1');
    const declared = META.exec(head) ?? /^<\?xml[^>]{0,100}encoding=["']([\w.:-]{1,40})/.exec(head);
    return declared?.[1];
  };
  return (named ?? (isPage ? inPage() : undefined) ?? 'utf-8').toLowerCase();
};

const decode = (body: Uint8Array, charset: string): string => {
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    // The charset is unknown. UTF-8 is the most likely.
    return new TextDecoder().decode(body);
  }
};
