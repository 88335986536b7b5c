/** Finds the output style, a Markdown file that the setting `outputStyle` names. */
import { join } from 'node:path';
import { splitFrontMatter } from '../../lib/text/split-front-matter.js';
import { type PromptSources, promptFolders, readPromptFile } from './prompt-file.js';

export interface OutputStyle {
  readonly name: string;
  readonly path: string;
  /** Text of the file without front matter. */
  readonly text: string;
}

interface StyleChoice {
  /** Undefined for `default`, and if there is no usable file. */
  readonly style?: OutputStyle;
  /** Sentence for people. */
  readonly warning?: string;
}

export const findOutputStyle = (name: string, sources: PromptSources): StyleChoice => {
  if (name === 'default') return {};
  if (!FILE_NAME.test(name)) {
    return {
      warning: `outputStyle "${name}" is ignored: write a file name without a folder.`,
    };
  }
  const folders = promptFolders('output-styles', sources);
  for (const folder of folders) {
    const path = join(folder.path, `${name}.md`);
    const file = readPromptFile(path, folder);
    if (file === undefined) continue;
    if ('problem' in file) return { warning: `${path} is ignored: it ${file.problem}.` };
    const text = splitFrontMatter(file.text).body.trim();
    if (text === '') return { warning: `${path} is ignored: it is empty.` };
    return { style: { name, path, text } };
  }
  const searched = folders.map(({ path }) => path).join(', ');
  return {
    warning: `outputStyle "${name}" is ignored: there is no ${name}.md in ${searched}.`,
  };
};

/** Plain file name that does not begin with a dot. */
const FILE_NAME = /^(?!\.)[^/\\\p{Cc}]{1,100}$/u;
