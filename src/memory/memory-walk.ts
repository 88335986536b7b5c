/**
 * Walks all memory locations layer by layer, within a layer from the root of the disk down to the
 * working directory. Later files are nearer and take precedence.
 */

import { dirname, join, resolve } from 'node:path';
import { isPathInside } from '../lib/paths/is-path-inside.js';
import {
  MEMORY_LAYERS,
  type Memory,
  type MemoryDisk,
  type MemoryLayer,
  type MemoryPorts,
} from '../protocol/tools/memory.js';
import { findRepository } from './find-repository.js';
import { findRules } from './find-rules.js';
import { LayerBudget } from './layer-budget.js';
import { namedAndReal } from './memory-admission.js';
import { MEMORY_LIMITS } from './memory-limits.js';
import { type LoadedRule, MemoryLoader, type MemorySource } from './memory-loader.js';
import {
  ancestors,
  localLocations,
  type MemoryLocations,
  managedLocations,
  projectLocations,
  userLocations,
} from './memory-locations.js';
import { MemoryNotices, printablePath } from './memory-notices.js';
import { NestedMemory } from './nested-memory.js';

export interface MemoryPlaces {
  readonly cwd: string;
  /** User's home, absolute. */
  readonly home: string;
  readonly skeinHome: string;
  /** Other paths of SKEIN_HOME, through mounts. Default: none. */
  readonly stateAliases?: readonly string[];
  /** Directories with managed settings, lowest precedence first. */
  readonly managed: readonly string[];
  /** Directories added with `--add-dir`. */
  readonly roots: readonly string[];
  /** True to load `roots` only. */
  readonly isBare: boolean;
  /** True to load no memory files. */
  readonly isDisabled: boolean;
  /** Memory files of optional features. Undefined if the feature is off. */
  readonly autoMemory?: string;
  readonly teamMemory?: string;
}

export interface MemoryFilesOptions {
  readonly places: MemoryPlaces;
  readonly disk: MemoryDisk;
  readonly ports: MemoryPorts;
}

export interface MemoryWalk {
  readonly memory: Memory;
  /** Grows as rules are found below the working directory. */
  readonly rules: readonly LoadedRule[];
  readonly nested: NestedMemory;
  readonly notices: MemoryNotices;
}

/** Memory location of one layer, with its limits. */
interface Stop {
  readonly layer: MemoryLayer;
  readonly locations: MemoryLocations;
  readonly linkFolders: readonly string[];
  readonly isUnguarded?: boolean;
  readonly bases: readonly string[];
}

export const walkMemory = async ({
  places,
  disk,
  ports,
}: MemoryFilesOptions): Promise<MemoryWalk> => {
  const notices = new MemoryNotices();
  const names = await Promise.all(
    [places.skeinHome, ...(places.stateAliases ?? [])].map((path) => namedAndReal(path, disk)),
  );
  const state = names.flat();
  const loader = new MemoryLoader({ disk, ports, notices, state, home: places.home });
  const stops = await planStops(places, disk, notices);
  const workspace = await allNames([places.cwd, ...places.roots], disk);
  const managed = await allNames(places.managed, disk);
  const budgets = new Map(MEMORY_LAYERS.map((layer) => [layer, new LayerBudget(layer, notices)]));
  const visit = async ({ layer, locations, bases, linkFolders, isUnguarded = false }: Stop) => {
    const budget = budgets.get(layer) ?? new LayerBudget(layer, notices);
    const includeFolders = layer === 'managed' ? [...workspace, ...managed] : workspace;
    const origin = { layer, budget, linkFolders, includeFolders, isUnguarded };
    for (const path of await existingPaths(locations.files, disk)) await loader.load(path, origin);
    for (const directory of await existingPaths(locations.rules, disk)) {
      await loadRules(directory, { ...origin, bases }, { loader, disk, notices });
    }
  };
  for (const layer of MEMORY_LAYERS) {
    for (const stop of stops) if (stop.layer === layer) await visit(stop);
  }
  const homes = await namedAndReal(places.home, disk);
  const { rules } = loader;
  const nested = new NestedMemory({
    bases: places.isBare ? [] : await namedAndReal(places.cwd, disk),
    notices,
    async enter(directory) {
      if ((await disk.resolve(join(directory, '.git'))) !== undefined) return undefined;
      const names = await namedAndReal(directory, disk);
      // Approval to read behind a link out of the workspace does not approve instructions found there.
      const isInWorkspace = (name: string) =>
        workspace.some((folder) => isPathInside({ path: name, folder }));
      if (!names.every(isInWorkspace)) return undefined;
      const isHome = names.some((name) => homes.includes(name));
      const before = loader.files.length;
      const rest = { bases: names, linkFolders: workspace };
      for (const stop of stopsIn(directory, rest, isHome)) await visit(stop);
      return loader.files.slice(before);
    },
  });
  const files = [...loader.files];
  const memory = { files, rules: rules.map(({ rule }) => rule), notices: notices.all() };
  return { memory, rules, nested, notices };
};

const loadRules = async (
  directory: string,
  origin: MemorySource,
  { loader, disk, notices }: { loader: MemoryLoader; disk: MemoryDisk; notices: MemoryNotices },
) => {
  const { layer, linkFolders, isUnguarded } = origin;
  /** Approved directories outside of `linkFolders`. Approval covers the files in them. */
  const entered: string[] = [];
  const paths = await findRules(directory, {
    disk,
    notices,
    mayEnter: (path, resolved) => {
      const candidate = { path, parent: null, layer, isUnguarded };
      const allowedFolders = [...linkFolders, ...entered];
      if (!loader.admission.mayEnter({ ...candidate, allowedFolders }, resolved)) return false;
      if (!allowedFolders.some((folder) => isPathInside({ path: resolved.real, folder })))
        entered.push(resolved.real);
      return true;
    },
  });
  for (const path of paths) {
    await loader.load(path, { ...origin, linkFolders: [...linkFolders, ...entered] });
  }
};

const planStops = async (
  places: MemoryPlaces,
  disk: MemoryDisk,
  notices: MemoryNotices,
): Promise<readonly Stop[]> => {
  const { cwd, home, skeinHome, isBare } = places;
  const cwdNames = await namedAndReal(cwd, disk);
  const added: Stop[] = [];
  for (const root of places.roots) {
    const names = await namedAndReal(root, disk);
    added.push(...stopsIn(resolve(root), { bases: names, linkFolders: names }, false));
  }
  if (isBare) return added;

  const anywhere = { linkFolders: ['/'], bases: cwdNames };
  const single = (layer: MemoryLayer, path: string | undefined, linkFolders: readonly string[]) =>
    path === undefined
      ? []
      : [{ layer, locations: { files: [path], rules: [] }, bases: cwdNames, linkFolders }];
  const { autoMemory, teamMemory } = places;
  // Auto memory lies in the user's state directory, team memory in a workspace that is not trusted.
  const ofAuto = autoMemory === undefined ? [] : await namedAndReal(dirname(autoMemory), disk);
  const ofTeam = teamMemory === undefined ? [] : [dirname(teamMemory), ...cwdNames];
  return [
    ...places.managed.map((directory): Stop => {
      return { layer: 'managed', locations: managedLocations(directory), ...anywhere };
    }),
    ...[join(home, '.claude'), skeinHome].map((directory): Stop => {
      return { layer: 'user', locations: userLocations(directory), ...anywhere };
    }),
    ...(await stopsAbove(places, cwdNames, { disk, notices })),
    ...added,
    ...single('auto', autoMemory, ofAuto),
    ...single('team', teamMemory, ofTeam),
  ];
};

/** Returns the locations in the working directory and all its ancestors, from the root down. */
const stopsAbove = async (
  { cwd, home }: MemoryPlaces,
  cwdNames: readonly string[],
  { disk, notices }: { disk: MemoryDisk; notices: MemoryNotices },
): Promise<readonly Stop[]> => {
  const { top, mainTree } = await findRepository(cwd, disk);
  const border = top ?? resolve(cwd);
  const inside = [...(await namedAndReal(border, disk)), ...cwdNames];
  const homes = await namedAndReal(home, disk);
  const chain = ancestors(cwd);
  if (chain.length > MEMORY_LIMITS.ancestors) {
    notices.add(
      `${printablePath(resolve(cwd))} is very deep: memory files are looked for in ${MEMORY_LIMITS.ancestors} directories only.`,
    );
  }
  const nearest = chain.slice(0, MEMORY_LIMITS.ancestors).reverse();
  const namesOf = await Promise.all(nearest.map((directory) => namedAndReal(directory, disk)));
  return nearest.flatMap((directory, index) => {
    const names = namesOf[index] ?? [directory];
    const isUnguarded = !isPathInside({ path: directory, folder: border });
    // A worktree repeats the committed files of the main tree. Local files exist only in the main tree.
    const isTwice =
      mainTree !== undefined &&
      isUnguarded &&
      names.some((name) => isPathInside({ path: name, folder: mainTree }));
    const found = stopsIn(
      directory,
      { bases: names, isUnguarded, linkFolders: isUnguarded ? names : [...names, ...inside] },
      names.some((name) => homes.includes(name)),
    );
    return found.filter(({ layer }) => !(isTwice && layer === 'project'));
  });
};

const stopsIn = (
  directory: string,
  rest: Omit<Stop, 'layer' | 'locations'>,
  isHome: boolean,
): readonly Stop[] => [
  { layer: 'project', locations: projectLocations(directory, isHome), ...rest },
  { layer: 'local', locations: localLocations(directory), ...rest },
];

const allNames = async (folders: readonly string[], disk: MemoryDisk) =>
  (await Promise.all(folders.map((folder) => namedAndReal(folder, disk)))).flat();

/** Returns the paths that exist. Looks them up concurrently, because most locations are empty. */
const existingPaths = async (
  paths: readonly string[],
  disk: MemoryDisk,
): Promise<readonly string[]> => {
  const found = await Promise.all(paths.map((path) => disk.resolve(path)));
  return paths.filter((_, index) => found[index] !== undefined);
};
