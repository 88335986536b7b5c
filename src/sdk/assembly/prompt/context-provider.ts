/**
 * What the agents of a run are told besides what people say. The walk over memory files and the look
 * at the repository happen once for a session; sections are words over what they found.
 */
import type { MemoryFiles } from '../../../memory/memory-files.js';
import {
  type InstructionBlock,
  instructionBlocks,
  instructionText,
  ruleText,
  type Trimmed,
  trimInstructions,
} from '../../../prompt/messages/instruction-block.js';
import { shortPath } from '../../../prompt/messages/quote-text.js';
import {
  type Ambient,
  branchText,
  changedFacts,
  openingFacts,
  ruleReminders,
} from '../../../prompt/messages/reminders.js';
import { userContext } from '../../../prompt/messages/user-context.js';
import { assemblePrompt, hasBoundary } from '../../../prompt/system/assemble-prompt.js';
import { choosePrompt, type PromptWishes } from '../../../prompt/system/choose-prompt.js';
import {
  dynamicSections,
  type McpInstructions,
  type PromptFacts,
} from '../../../prompt/system/dynamic-zone.js';
import { sectionTexts } from '../../../prompt/system/head-text.js';
import { attributionText, promptHead, simpleHead } from '../../../prompt/system/prompt-head.js';
import type { Piece } from '../../../prompt/system/section.js';
import { SectionRegistry } from '../../../prompt/system/section-registry.js';
import {
  BREAKER,
  repositoryText,
  SNAPSHOT,
  systemContext,
} from '../../../prompt/system/system-context.js';
import type { ContextProvider, PreambleFile } from '../../../protocol/model/context-provider.js';
import type { CacheTtl, PromptHead } from '../../../protocol/model/prompt.js';
import type { Capabilities } from '../../../protocol/model/providers.js';
import type { RawJson } from '../../../protocol/model/wire.js';
import type { PermissionMode } from '../../../protocol/permission/permission.js';
import type { ConditionalRule, Memory } from '../../../protocol/tools/memory.js';
import type { RepositoryFacts } from '../../../protocol/tools/repository.js';

export interface BriefingOptions {
  readonly memory: Pick<MemoryFiles, 'load' | 'reset' | 'nearby'>;
  /** Looked at once; undefined outside a repository. */
  readonly repository: (cwd: string) => Promise<RepositoryFacts | undefined>;
  /** The branch at this moment. Asked before every message. */
  readonly branch: () => string | undefined;
  /** YYYY-MM-DD. */
  readonly today: () => string;
  readonly mode: () => PermissionMode;
  /** What sections may speak of, but for what is found out on the way. */
  readonly facts: Omit<
    PromptFacts,
    'memoryFiles' | 'hasRules' | 'model' | 'place' | 'mcpInstructions'
  > & { readonly place: Omit<PromptFacts['place'], 'cwd' | 'isGitRepository'> };
  readonly isGitRepository: (cwd: string) => boolean;
  readonly wishes: PromptWishes;
  readonly tools: RawJson;
  readonly hasMcpTools: boolean;
  readonly mcpInstructions: () => readonly McpInstructions[];
  /** Servers are spoken of in messages, not in the system prompt (P9). */
  readonly mcpDelta: boolean;
  readonly capabilities: Capabilities;
  readonly betasDisabled: boolean;
  readonly ttl: CacheTtl;
  /** One line instead of all sections. */
  readonly isSimple: boolean;
  readonly breaker: string;
  /** What instruction files may fill at most. */
  readonly memoryCharacters: number;
  readonly notify: (sentence: string) => void;
}

export const runBriefing = (options: BriefingOptions): ContextProvider => {
  const { memory, capabilities, mcpDelta } = options;
  const registry = new SectionRegistry(dynamicSections(mcpDelta));
  const boundary = hasBoundary(capabilities.provider, options.betasDisabled);
  const said = new Set<string>();
  const tell = (sentences: readonly string[]) => {
    for (const sentence of sentences) {
      if (!said.has(sentence)) options.notify(sentence);
      said.add(sentence);
    }
  };
  let repository: Promise<RepositoryFacts | undefined> | undefined;
  const looked = (cwd: string) => {
    repository ??= options.repository(cwd);
    return repository;
  };
  const walked = async (): Promise<Memory> => {
    const found = await memory.load();
    tell([...found.notices, ...found.files.filter(({ isLarge }) => isLarge).map(largeNotice)]);
    return found;
  };
  // Sections are words of a session: but for those that may change, they stay until it begins anew.
  let isAnew = false;
  const ambient = (): Ambient => ({
    date: options.today(),
    mode: options.mode(),
    branch: options.branch() ?? null,
    mcp: mcpDelta ? options.mcpInstructions() : null,
  });
  return {
    get mayChange() {
      return registry.mayChange && !options.isSimple;
    },
    isStale: (head) => !options.isSimple && breakerOf(sectionTexts(head)) !== options.breaker,
    renew() {
      isAnew = true;
      registry.clear();
      memory.reset();
    },
    async head({ cwd, model, version, entrypoint, kept }) {
      const { tools, ttl } = kept ?? options;
      if (options.isSimple) return simpleHead(cwd, options.today(), tools, ttl);
      const former = kept === undefined ? undefined : sectionTexts(kept);
      // The repository is looked at once, unless somebody wants everything to begin anew.
      const known = former?.get(SNAPSHOT);
      const isKept = former !== undefined && breakerOf(former) === options.breaker;
      const [found, snapshot] = await Promise.all([walked(), isKept ? undefined : looked(cwd)]);
      const dynamic = registry.resolve({
        ...options.facts,
        memoryFiles: found.files,
        hasRules: found.rules.length > 0,
        model,
        mcpInstructions: options.mcpInstructions(),
        place: { ...options.facts.place, cwd, isGitRepository: options.isGitRepository(cwd) },
      });
      if (kept !== undefined && isKept && !isAnew && saysTheSame(kept, dynamic)) return kept;
      isAnew = false;
      const text = isKept ? known : snapshot && repositoryText(snapshot);
      const context = systemContext(text, options.breaker);
      const pieces = choosePrompt(assemblePrompt(dynamic, boundary), options.wishes, context);
      return promptHead(pieces, {
        tools,
        ttl,
        capabilities,
        hasMcpTools: options.hasMcpTools,
        attribution: attributionText(version, entrypoint),
      });
    },
    async opening() {
      const found = await walked();
      const trimmed = trimInstructions(instructionBlocks(found.files), options.memoryCharacters);
      tell(leftOutNotices(trimmed.dropped));
      const now = ambient();
      const isKnown = now.branch === null || now.branch === (await repository)?.branch;
      const news = isKnown ? [] : [branchText(now.branch ?? '')];
      const files = openingFiles(trimmed, found.rules);
      return { text: userContext(trimmed, now, news), facts: openingFacts(now), files };
    },
    async reminders(told, touched) {
      const changed = changedFacts(told, ambient());
      if (touched.length === 0) return changed;
      const { rules } = await walked();
      const near = await memory.nearby(touched);
      const { reminders, dropped } = ruleReminders(told, [...near.files, ...near.rules], {
        known: [...near.files, ...rules],
        room: options.memoryCharacters,
      });
      tell([...near.notices, ...leftOutNotices(dropped)]);
      return [...reminders, ...changed];
    },
  };
};

const breakerOf = (texts: ReadonlyMap<string, string>): string => texts.get(BREAKER) ?? '';

/** No section that may change from turn to turn came, went or has other words. */
const saysTheSame = (kept: PromptHead, now: readonly Piece[]): boolean => {
  const texts = sectionTexts(kept);
  const was = kept.sections.flatMap(({ name, mayChange }) => (mayChange ? [name] : []));
  const is = now.filter(({ mayChange }) => mayChange !== undefined);
  return was.length === is.length && is.every(({ name, text }) => texts.get(name) === text);
};

const openingFiles = (
  { kept, dropped }: Trimmed,
  rules: readonly ConditionalRule[],
): readonly PreambleFile[] => {
  const fileOf = (block: InstructionBlock, fate: PreambleFile['fate']): PreambleFile => {
    const { source: layer, path, parent } = block;
    return { layer, path, parent, fate, text: instructionText(block) };
  };
  return [
    ...kept.map((block) => fileOf(block, 'told')),
    ...dropped.map((block) => fileOf(block, 'left out')),
    ...rules.map((rule): PreambleFile => {
      const { layer, path, parent, paths } = rule;
      return { layer, path, parent, fate: 'waits', paths, text: ruleText(rule) };
    }),
  ];
};

const MOST_NOTICES = 10;

const leftOutNotices = (dropped: readonly InstructionBlock[]): readonly string[] => {
  const why = 'left out of the prompt: instruction files are too long together';
  const more = dropped.length - MOST_NOTICES;
  return [
    ...dropped.slice(0, MOST_NOTICES).map(({ path }) => `${shortPath(path)} is ${why}.`),
    ...(more > 0 ? [`${more} more files are ${why}.`] : []),
  ];
};

const largeNotice = ({ path, text }: { path: string; text: string }): string =>
  `${path} has ${text.length} characters, which every conversation here pays for; 40,000 are plenty.`;
