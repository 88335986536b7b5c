/** How the agent is to write, in a Markdown file that the setting `outputStyle` names. */
import { join } from 'node:path';
import { splitFrontMatter } from '../../lib/front-matter.js';
import { type PromptPlaces, promptFolders, readPromptFile } from './prompt-files.js';

export interface OutputStyle {
  readonly name: string;
  readonly path: string;
  /** Without front matter. */
  readonly text: string;
}

export interface StyleChoice {
  /** Undefined for `default`, and when there is none that can be used. */
  readonly style?: OutputStyle;
  /** A sentence for people. */
  readonly warning?: string;
}

export const findOutputStyle = (name: string, places: PromptPlaces): StyleChoice => {
  if (name === 'default') return {};
  if (!FILE_NAME.test(name)) {
    return {
      warning: `outputStyle "${name}" is ignored: give the name of a file without its folder.`,
    };
  }
  const folders = promptFolders('output-styles', places);
  for (const folder of folders) {
    const path = join(folder.path, `${name}.md`);
    const file = readPromptFile(path, folder);
    if (file === undefined) continue;
    if ('trouble' in file) return { warning: `${path} is ignored: it ${file.trouble}.` };
    const text = splitFrontMatter(file.text).body.trim();
    if (text === '') return { warning: `${path} is ignored: there is nothing in it.` };
    return { style: { name, path, text } };
  }
  const looked = folders.map(({ path }) => path).join(', ');
  return {
    warning: `outputStyle "${name}" is ignored: there is no ${name}.md in ${looked}.`,
  };
};

/** No path, and nothing hidden. */
const FILE_NAME = /^(?!\.)[^/\\\p{Cc}]{1,100}$/u;
