/** Scenes that have the whole terminal, one on top of another: the top one has the keys. */
import type { Key } from '../../terminal/input/line-editor.js';
import type { Scene, Screen } from './screen.js';

export interface WholeScene extends Scene {
  press(key: Key): void;
  paste?(text: string): void;
}

interface Opened {
  readonly scene: WholeScene;
  readonly close: () => void;
}

export class SceneStack {
  private readonly screen: Pick<Screen, 'showWhole'>;
  private readonly opened: Opened[] = [];

  constructor(screen: Pick<Screen, 'showWhole'>) {
    this.screen = screen;
  }

  get isEmpty(): boolean {
    return this.opened.length === 0;
  }

  /** `make` is given what takes it away again, and may think better of it. */
  open(make: (close: () => void) => WholeScene | undefined): void {
    const scene = make(() => this.leave(scene));
    if (scene !== undefined) this.opened.push({ scene, close: this.screen.showWhole(scene) });
  }

  /** False when there is nobody who could take it. */
  press(key: Key): boolean {
    const top = this.opened.at(-1);
    top?.scene.press(key);
    return top !== undefined;
  }

  paste(text: string): boolean {
    const top = this.opened.at(-1);
    top?.scene.paste?.(text);
    return top !== undefined;
  }

  close(): void {
    for (const { close } of this.opened.splice(0).reverse()) close();
  }

  private leave(scene: WholeScene | undefined): void {
    const at = this.opened.findIndex((it) => it.scene === scene);
    // Those above it go with it.
    if (at !== -1) for (const { close } of this.opened.splice(at).reverse()) close();
  }
}
