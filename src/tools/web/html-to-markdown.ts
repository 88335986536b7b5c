/** Converts HTML to Markdown: the visible content, in page order. */

import { MarkdownWriter } from './markdown-writer.js';
import { type Attributes, type HtmlListener, readHtml } from './read-html.js';

interface MarkdownPage {
  readonly title: string;
  readonly markdown: string;
  /** True if the page has more than `limit` characters. */
  readonly cut: boolean;
}

/** `address` is the base of relative links. Rejects with the signal's reason once aborted. */
export const htmlToMarkdown = async (
  html: string,
  { address, limit, signal }: { address: string; limit: number; signal: AbortSignal },
): Promise<MarkdownPage> => {
  const page = new PageReader(address, limit);
  await readHtml(html, page, signal);
  return page.finish();
};

/** Tags of deeper elements are ignored. */
const MAX_DEPTH = 256;
const MAX_TITLE_LENGTH = 300;
const MAX_LINK_LENGTH = 2_000;

const SKIPPED = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'math',
  'iframe',
  'object',
  'canvas',
  'noframes',
  'noembed',
  'select',
  'datalist',
  'audio',
  'video',
]);
const FOREIGN = new Set(['svg', 'math']);
const VOID = new Set([
  'area',
  'base',
  'br',
  'col',
  'embed',
  'hr',
  'img',
  'input',
  'link',
  'meta',
  'source',
  'track',
  'wbr',
  'param',
]);
const BLOCKS = new Set([
  'p',
  'div',
  'section',
  'article',
  'header',
  'footer',
  'main',
  'nav',
  'aside',
  'figure',
  'figcaption',
  'form',
  'fieldset',
  'address',
  'dl',
  'details',
  'summary',
  'body',
  'center',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'ul',
  'ol',
  'blockquote',
  'pre',
  'table',
  'hr',
]);
const MARKS: Readonly<Record<string, string>> = {
  b: '**',
  strong: '**',
  i: '_',
  em: '_',
  del: '~~',
  s: '~~',
  code: '`',
  kbd: '`',
  samp: '`',
};
/**
 * Elements that a start tag closes implicitly, and the ancestors that limit the search for them.
 */
const ENDS: Readonly<Record<string, { ends: ReadonlySet<string>; within: ReadonlySet<string> }>> = {
  li: { ends: new Set(['li']), within: new Set(['ul', 'ol']) },
  dt: { ends: new Set(['dt', 'dd']), within: new Set(['dl']) },
  dd: { ends: new Set(['dt', 'dd']), within: new Set(['dl']) },
  tr: { ends: new Set(['tr']), within: new Set(['table']) },
  td: { ends: new Set(['td', 'th']), within: new Set(['tr', 'table']) },
  th: { ends: new Set(['td', 'th']), within: new Set(['tr', 'table']) },
};
const HIDING = /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i;
/**
 * Elements that may be hidden. Other elements may lack an end tag, which would hide the rest of the
 * page.
 */
const HIDABLE = new Set(['div', 'span', 'section', 'article', 'aside', 'nav', 'a', 'ul', 'table']);

interface OpenElement {
  readonly name: string;
  readonly close: () => void;
}

class PageReader implements HtmlListener {
  private readonly writer: MarkdownWriter;
  private readonly elements: OpenElement[] = [];
  /** Number of open elements by name, so that a stray end tag needs no search. */
  private readonly counts = new Map<string, number>();
  private skipping: { readonly name: string; depth: number } | undefined;
  private title = '';
  private inTitle = false;
  private readonly address: string;

  constructor(address: string, limit: number) {
    this.address = address;
    this.writer = new MarkdownWriter(limit);
  }

  get isFull(): boolean {
    return this.writer.isFull;
  }

  open(name: string, attributes: Attributes, isVoid: boolean): void {
    const { skipping } = this;
    if (skipping !== undefined) {
      if (skipping.name === name && !(isVoid && FOREIGN.has(name))) skipping.depth += 1;
      return;
    }
    this.inTitle = name === 'title' && this.title === '';
    if (this.inTitle) return;
    if (SKIPPED.has(name) || isHidden(name, attributes)) {
      if (!(isVoid && FOREIGN.has(name))) this.skipping = { name, depth: 1 };
      return;
    }
    this.endBefore(name);
    const close = this.begin(name, attributes);
    if (VOID.has(name) || this.elements.length >= MAX_DEPTH) close?.();
    else {
      this.elements.push({ name, close: close ?? (() => {}) });
      this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    }
  }

  close(name: string): void {
    this.inTitle = false;
    const { skipping } = this;
    if (skipping !== undefined) {
      if (skipping.name === name) skipping.depth -= 1;
      if (skipping.depth === 0) this.skipping = undefined;
      return;
    }
    if (name === 'br') this.writer.lineBreak();
    if ((this.counts.get(name) ?? 0) === 0) return;
    this.closeFrom(this.elements.findLastIndex((element) => element.name === name));
  }

  text(text: string): void {
    if (this.skipping !== undefined) return;
    if (!this.inTitle) this.writer.text(text);
    else if (this.title.length < MAX_TITLE_LENGTH) this.title += text.slice(0, MAX_TITLE_LENGTH);
  }

  finish(): MarkdownPage {
    this.closeFrom(0);
    const title = this.title.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_TITLE_LENGTH);
    return { title, markdown: this.writer.finish(), cut: this.writer.isFull };
  }

  private closeFrom(at: number): void {
    for (const { name, close } of this.elements.splice(at).reverse()) {
      this.counts.set(name, (this.counts.get(name) ?? 0) - 1);
      close();
    }
  }

  /**
   * Closes elements that the start tag ends implicitly: `<li>` ends an `<li>`, a block ends a
   * paragraph.
   */
  private endBefore(name: string): void {
    const rule = ENDS[name];
    if (rule !== undefined) {
      const at = this.elements.findLastIndex(
        (element) => rule.ends.has(element.name) || rule.within.has(element.name),
      );
      if (rule.ends.has(this.elements[at]?.name ?? '')) this.closeFrom(at);
    } else if (BLOCKS.has(name) && this.elements.at(-1)?.name === 'p') {
      this.closeFrom(this.elements.length - 1);
    }
  }

  /** Starts an element. Returns the function to call at its end. */
  private begin(name: string, attributes: Attributes): (() => void) | undefined {
    const { writer } = this;
    const mark = MARKS[name];
    if (mark !== undefined) return writer.mark(mark, mark);
    const level = /^h([1-6])$/.exec(name)?.[1];
    if (level !== undefined) return writer.heading(Number(level));
    switch (name) {
      case 'a':
        return this.link(attributes);
      case 'img':
        return this.image(attributes);
      case 'br':
        writer.lineBreak();
        return undefined;
      case 'hr':
        return writer.rule();
      case 'pre':
        return writer.preformatted();
      case 'blockquote':
        return writer.indented('> ');
      case 'ul':
        return writer.list(undefined);
      case 'ol':
        return writer.list(Number.parseInt(attributes.start ?? '1', 10) || 1);
      case 'li':
        return writer.item();
      case 'dt':
      case 'dd':
        writer.block(1);
        return undefined;
      case 'table':
        return writer.table();
      case 'tr':
        return writer.row();
      case 'td':
      case 'th':
        return writer.cell();
      default:
        if (!BLOCKS.has(name)) return undefined;
        writer.block(2);
        return () => writer.block(2);
    }
  }

  private link({ href = '' }: Attributes): (() => void) | undefined {
    const target = this.resolve(href);
    return target === undefined ? undefined : this.writer.mark('[', `](${target})`);
  }

  private image({ src = '', alt = '' }: Attributes): undefined {
    const text = alt.replaceAll(/\s+/g, ' ').trim();
    if (text === '') return;
    const target = this.resolve(src);
    this.writer.text(target === undefined ? `[${text}]` : `![${text}](${target})`);
  }

  /** Returns undefined for an invalid link or a link within the page. */
  private resolve(link: string): string | undefined {
    const text = link.trim();
    if (text === '' || text.startsWith('#') || text.length > MAX_LINK_LENGTH) return undefined;
    if (!URL.canParse(text, this.address)) return undefined;
    const { href, protocol } = new URL(text, this.address);
    if (!['http:', 'https:', 'mailto:'].includes(protocol)) return undefined;
    return /[()]/.test(href) ? `<${href}>` : href;
  }
}

const isHidden = (name: string, { hidden, style = '' }: Attributes) =>
  HIDABLE.has(name) && (hidden !== undefined || HIDING.test(style));
