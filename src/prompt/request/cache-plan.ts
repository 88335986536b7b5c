/**
 * Cache plan of a request: the position of every breakpoint, as a pure function of the provider's
 * capabilities, the prompt, the tools and the messages. prompt-head.ts writes the breakpoints of
 * the system prompt, request-body.ts the breakpoints of the messages.
 */
import type { CacheTtl } from '../../protocol/model/prompt-head.js';
import type { Capabilities } from '../../protocol/model/providers.js';
import type { RawJson } from '../../protocol/model/wire-block.js';
import {
  type PlannedBlock,
  type SplitMode,
  splitMode,
  splitPrompt,
} from '../system/split-prompt.js';
import type { SystemPrompt } from '../system/system-prompt.js';
import { breakpointMessages } from './cache-breakpoints.js';
import { cacheControl } from './cache-control.js';

interface PlanOptions {
  readonly capabilities: Capabilities;
  readonly prompt: SystemPrompt;
  /** Text of the attribution block. */
  readonly attribution: string;
  readonly hasMcpTools: boolean;
  readonly messages: readonly { readonly role: 'user' | 'assistant' }[];
  readonly ttl: CacheTtl;
}

export interface CachePlan {
  readonly mode: SplitMode;
  /** `cacheControl` is null for a block without a breakpoint. */
  readonly system: readonly (PlannedBlock & { readonly cacheControl: RawJson | null })[];
  /** Indices of the messages that get `messageBreakpoint` on their last block. */
  readonly messages: readonly number[];
  readonly messageBreakpoint: RawJson | null;
}

export const cachePlan = (options: PlanOptions): CachePlan => {
  const { capabilities, prompt, attribution, hasMcpTools, messages, ttl } = options;
  const messageBreakpoint = cacheControl(capabilities, ttl, null);
  return {
    mode: splitMode(prompt, hasMcpTools),
    system: splitPrompt(prompt, { attribution, hasMcpTools }).map((block) => ({
      ...block,
      cacheControl: block.hasBreakpoint ? cacheControl(capabilities, ttl, block.scope) : null,
    })),
    messages: messageBreakpoint === null ? [] : breakpointMessages(messages),
    messageBreakpoint,
  };
};
