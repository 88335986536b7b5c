/** What a call may change on disk, so that it can be kept before the call begins. */
import { locate } from '../../tools/files/file-access.js';
import type { ToolEnvironment } from '../calls/run-tool.js';
import type { ValidCall } from '../permissions/judge-call.js';

/** Undefined when that is nothing. */
export const writablePathsOf = (
  { request, readOnly }: ValidCall,
  { workspace, notebook }: Pick<ToolEnvironment, 'workspace' | 'notebook'>,
): { readonly paths: readonly string[] | undefined } | undefined => {
  const { action, target } = request.subject;
  if (readOnly || action === 'none' || action === 'network') return undefined;
  if (action !== 'write') return { paths: undefined };
  return { paths: [locate(target, { workspace, cwd: notebook.history.cwd })] };
};
