/** Texts that descriptors carry in a rebuilt command line: `exec 3<<< text`, `sh <&3`, `exec 3> >(sh)`, `coproc sh`. */
import type { Command, CommandNode, CompoundList, ParsedScript, Redirection, Word } from 'unbash';
import { inputOf } from './printed-text.js';
import type { ValueScope } from './rebuild-words.js';

/** Commands that read the text that others write to a descriptor. */
export type StreamReader = ParsedScript | CommandNode | CompoundList;

export class ShellStreams {
  private readonly texts = new Map<number, string>();
  private readonly readers = new Map<number, StreamReader>();
  private coprocess: StreamReader | undefined;

  /** Keeps the descriptors of an `exec` without a program. */
  keep(redirects: readonly Redirection[], scope: ValueScope): void {
    for (const redirect of redirects) {
      const descriptor = descriptorOf(redirect);
      const text = inputOf(redirects, scope, descriptor)?.text;
      if (text !== undefined) this.texts.set(descriptor, text);
      const script = processOf(redirect, '>');
      if (script !== undefined) this.readers.set(descriptor, script);
    }
  }

  keepCoprocess(body: StreamReader): void {
    this.coprocess = body;
  }

  /** Returns the text that the command reads from a descriptor or a pipe file. Undefined if it is unknown. */
  inputOf(node: Command, isShell: boolean, scope: ValueScope): string | undefined {
    const own = inputOf(node.redirects, scope)?.text;
    if (own !== undefined) return own;
    const words = isShell ? node.args.filter((arg) => arg.type === 'Word') : [];
    for (const word of words) {
      const [part] = word.parts ?? [];
      if (part?.type === 'ProcessSubstitution' && part.script !== undefined)
        return scope.printed(part.script, scope)?.text;
    }
    const copied = node.redirects.findLast(
      (redirect) => redirect.type === 'Redirect' && redirect.operator.startsWith('<'),
    );
    const targets = [...(copied?.type === 'Redirect' ? [copied.target] : []), ...words];
    for (const target of targets) {
      const number = numberOf(target);
      if (number === undefined) continue;
      return inputOf(node.redirects, scope, number)?.text ?? this.texts.get(number);
    }
    return copied === undefined ? this.texts.get(0) : undefined;
  }

  /** Returns the commands that read the output of a command with these redirections. */
  readersOf(redirects: readonly Redirection[]): readonly StreamReader[] {
    const outputs = redirects.filter(
      (redirect) => redirect.type === 'Redirect' && !redirect.operator.startsWith('<'),
    );
    if (outputs.length === 0) return listOf(this.readers.get(1));
    return outputs.flatMap((redirect) => {
      if (redirect.type !== 'Redirect') return [];
      const number = numberOf(redirect.target);
      return number === undefined ? listOf(this.coprocess) : listOf(this.readers.get(number));
    });
  }
}

const listOf = (reader: StreamReader | undefined) => (reader === undefined ? [] : [reader]);

const descriptorOf = (redirect: Redirection): number => {
  if (redirect.descriptor?.type === 'FileDescriptor') return redirect.descriptor.value;
  return redirect.operator.startsWith('<') ? 0 : 1;
};

/** Returns the commands of a process substitution that is the target of the redirection. */
export const processOf = (redirect: Redirection, operator: '<' | '>'): ParsedScript | undefined => {
  const [part] = (redirect.type === 'Redirect' ? redirect.target?.parts : undefined) ?? [];
  return part?.type === 'ProcessSubstitution' && part.operator === operator
    ? part.script
    : undefined;
};

const numberOf = (target: Word | undefined): number | undefined => {
  const text = target?.value ?? '';
  if (text === '/dev/stdin') return 0;
  const [, number] = /^(?:\/dev\/fd\/|\/proc\/(?:self|\$\$)\/fd\/)?(\d+)-?$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number);
};
