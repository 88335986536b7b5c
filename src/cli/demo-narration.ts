/** Tells a person what the agent of `skein demo` is doing, while it does it. */

import { textOf } from '../context/last-answer.js';
import type { FeedItem } from '../protocol/feed.js';
import type { StreamEvent } from '../protocol/model.js';
import type { WireBlock } from '../protocol/wire.js';

export class DemoNarration {
  private isTalking = false;

  /** What to print for this item, often nothing. */
  tell(item: FeedItem): string {
    switch (item.type) {
      case 'stream.event':
        return this.talk(item.event);
      case 'tool.started':
        return `  ▸ ${item.description}\n`;
      case 'tool.results':
        return (JSON.parse(item.content) as WireBlock[]).map(describeResult).join('');
      case 'call.denied':
        return `  ✗ ${item.denial.tool} was denied: ${item.denial.reason}\n`;
      default:
        return '';
    }
  }

  /** Text as it is written. */
  private talk({ type, content_block, delta }: StreamEvent): string {
    const block = content_block as { type?: string } | undefined;
    const piece = delta as { type?: string; text?: string } | undefined;
    if (type === 'content_block_start' && block?.type === 'text') {
      this.isTalking = true;
      return '\n● ';
    }
    if (type === 'content_block_stop' && this.isTalking) {
      this.isTalking = false;
      return '\n';
    }
    return piece?.type === 'text_delta' ? (piece.text ?? '') : '';
  }
}

const describeResult = ({ is_error, content }: WireBlock): string => {
  const text = typeof content === 'string' ? content : textOf((content ?? []) as WireBlock[]);
  const lines = text.trimEnd().split('\n');
  const counts = lines.filter((line) => /\b(pass|fail) [1-9]/.test(line));
  const telling = counts.at(-1) ?? lines[0] ?? '';
  const shown = telling
    .replaceAll(/\s+/g, ' ')
    .replace(/ It now reads:$/, '')
    .trim()
    .slice(0, 90);
  return `    ${is_error === true ? '✗' : '✓'} ${shown}\n`;
};
