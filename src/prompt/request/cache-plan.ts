/**
 * Where the marks of a request go, as one pure function of what the provider takes, the sections, the
 * tools and the messages. What is sent follows it: prompt-head.ts writes the system side, and
 * request-body.ts splices the rest in.
 */
import type { CacheTtl } from '../../protocol/model/prompt.js';
import type { Capabilities } from '../../protocol/model/providers.js';
import type { RawJson } from '../../protocol/model/wire.js';
import {
  type PlannedBlock,
  type SplitMode,
  splitMode,
  splitPrompt,
} from '../system/split-prompt.js';
import type { SystemPrompt } from '../system/system-prompt.js';
import { markedMessages } from './cache-breakpoints.js';
import { cacheControl } from './cache-control.js';

export interface PlanOptions {
  readonly capabilities: Capabilities;
  readonly prompt: SystemPrompt;
  /** Who speaks, in which version. */
  readonly attribution: string;
  readonly hasMcpTools: boolean;
  readonly messages: readonly { readonly role: 'user' | 'assistant' }[];
  readonly ttl: CacheTtl;
}

export interface CachePlan {
  readonly mode: SplitMode;
  /** A mark is the text of its `cache_control`; null where there is none. */
  readonly system: readonly (PlannedBlock & { readonly mark: RawJson | null })[];
  /** The messages whose last block is marked, and with what. */
  readonly messages: readonly number[];
  readonly messageMark: RawJson | null;
}

export const cachePlan = (options: PlanOptions): CachePlan => {
  const { capabilities, prompt, attribution, hasMcpTools, messages, ttl } = options;
  const messageMark = cacheControl(capabilities, ttl, null);
  return {
    mode: splitMode(prompt, hasMcpTools),
    system: splitPrompt(prompt, { attribution, hasMcpTools }).map((block) => ({
      ...block,
      mark: block.marked ? cacheControl(capabilities, ttl, block.scope) : null,
    })),
    messages: messageMark === null ? [] : markedMessages(messages),
    messageMark,
  };
};
