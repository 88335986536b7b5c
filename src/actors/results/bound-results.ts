/** Replaces results of one message by previews, so that the results fit their share of the window. */
import { planResults } from '../../context/window/plan-results.js';
import type { RawJson } from '../../protocol/model/wire-block.js';
import type { Artifact } from '../../protocol/tools/artifact.js';
import type { ResultBlock } from '../../protocol/tools/tool.js';
import type { JournaledState } from '../agent/journaled-state.js';
import { previewResult } from './preview-result.js';

/** A journaled result. */
export interface WeighedResult {
  readonly id: string;
  readonly raw: RawJson;
  /** Text weight in bytes. */
  readonly weight: number;
}

interface ResultJson {
  readonly content: string | readonly ResultBlock[];
  readonly [key: string]: unknown;
}

interface BoundResultsDeps {
  readonly journal: JournaledState;
  readonly openArtifact: (name: string) => Artifact;
}

/** Bytes of a tool_result block besides its content: keys and the id of the call. */
const BLOCK_BYTES = 200;

/** Returns the blocks to send instead of journaled results, by call. Journals the reached limit. */
export const boundResults = async (
  { journal, openArtifact }: BoundResultsDeps,
  results: readonly WeighedResult[],
  maxTokens: number,
): Promise<ReadonlyMap<string, RawJson>> => {
  const weights = results.map(({ weight }) => weight);
  const { shortened, previewWeight } = planResults(weights, maxTokens);
  const shown = new Map<string, RawJson>();
  for (const index of shortened) {
    const { id, raw } = results[index] ?? { id: '', raw: '{}' };
    const block = JSON.parse(raw) as ResultJson;
    const content = await previewResult(block.content, {
      openArtifact: (name) => openArtifact(`${id}-${name}`),
      maxBytes: previewWeight - BLOCK_BYTES,
      why: `the results of one message may have ${maxTokens} tokens together`,
    });
    shown.set(id, JSON.stringify({ ...block, content }));
  }
  const detail = `${shown.size} of ${results.length} results of a message were stored as artifacts, and the model read previews of them.`;
  journal.record({ type: 'bound.hit', what: 'message-results', limit: maxTokens, detail });
  return shown;
};
