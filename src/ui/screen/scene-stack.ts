/** Scene stack: full-screen scenes on top of each other. The top scene gets the keys. */
import type { Key } from '../../terminal/input/line-editor.js';
import type { Scene, Screen } from './screen.js';

export interface FullScreenScene extends Scene {
  press(key: Key): void;
  paste?(text: string): void;
}

interface Opened {
  readonly scene: FullScreenScene;
  readonly close: () => void;
}

export class SceneStack {
  private readonly screen: Pick<Screen, 'showFullScreen'>;
  private readonly opened: Opened[] = [];

  constructor(screen: Pick<Screen, 'showFullScreen'>) {
    this.screen = screen;
  }

  get isEmpty(): boolean {
    return this.opened.length === 0;
  }

  /** Opens the scene that `make` returns, if any. `make` receives the function that closes the scene. */
  open(make: (close: () => void) => FullScreenScene | undefined): void {
    const scene = make(() => this.leave(scene));
    if (scene !== undefined) this.opened.push({ scene, close: this.screen.showFullScreen(scene) });
  }

  /** Passes the key to the top scene. Returns false if no scene is open. */
  press(key: Key): boolean {
    const top = this.opened.at(-1);
    top?.scene.press(key);
    return top !== undefined;
  }

  /** Passes the paste to the top scene. Returns false if no scene is open. */
  paste(text: string): boolean {
    const top = this.opened.at(-1);
    top?.scene.paste?.(text);
    return top !== undefined;
  }

  close(): void {
    for (const { close } of this.opened.splice(0).reverse()) close();
  }

  private leave(scene: FullScreenScene | undefined): void {
    const at = this.opened.findIndex((entry) => entry.scene === scene);
    // Scenes above it close too.
    if (at !== -1) for (const { close } of this.opened.splice(at).reverse()) close();
  }
}
