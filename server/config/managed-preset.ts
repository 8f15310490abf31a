/**
 * The managed team preset: that of the policy file, otherwise the one built into the program. A policy is accepted only
 * from a place that ordinary users cannot write to, because it is applied without asking and may refer to environment
 * variables.
 */
import { closeSync, fstatSync, readFileSync, statSync } from 'node:fs';
import { dirname, win32 } from 'node:path';
import { GatewayError } from '../contract/errors.ts';
import type { TeamPreset } from '../contract/team-preset.ts';
import { describeFileProblem, openRegularFileSync, systemErrorCode } from '../ground/files/regular-file.ts';
import { readTeamPreset } from './read-team-preset.ts';

export interface ManagedPreset {
  source: 'policy' | 'built-in';
  path: string;
  preset: TeamPreset;
  /** As it stands in the file, with fields of removed features. */
  written: unknown;
  /** What it still says of removed features, one sentence for each field. */
  removed: readonly string[];
}

export interface PresetPlaces {
  policy: string;
  /** Absent if there is none. */
  builtIn?: string | undefined;
  /** The required owner of the policy and its folder; default: root. Null if it is not checked (Windows). */
  ownerId?: number | null;
}

export interface ManagedPresets {
  readonly current: ManagedPreset | null;
  /** Reads the preset again; returns true if it has changed. */
  refresh(): boolean;
}

/** @param notice receives messages for the user about unusable presets and removed features, one line each */
export function openManagedPresets(places: PresetPlaces, notice: (line: string) => void): ManagedPresets {
  let last = '';
  let current: ManagedPreset | null = null;
  const refresh = () => {
    const result = findPreset(places);
    const resultJson = JSON.stringify(result);
    if (resultJson === last) return false;
    last = resultJson;
    for (const line of [result.problem, ...(result.preset?.removed ?? [])]) if (line !== null) notice(line);
    current = result.preset;
    return true;
  };
  refresh();
  return {
    get current() {
      return current;
    },
    refresh,
  };
}

/** For a program without managed presets. */
export const noManagedPresets: ManagedPresets = { current: null, refresh: () => false };

interface Found {
  preset: ManagedPreset | null;
  problem: string | null;
}

/** An unusable policy is not replaced by the built-in preset, which may lock something else. */
function findPreset({ policy, builtIn, ownerId = defaultOwnerId() }: PresetPlaces): Found {
  const found = load('policy', policy, (file) => whyNotTrusted(file, policy, ownerId));
  if (found || builtIn === undefined) return found ?? { preset: null, problem: null };
  return load('built-in', builtIn, () => null) ?? { preset: null, problem: null };
}

function defaultOwnerId(): number | null {
  return process.platform === 'win32' ? null : 0;
}

/** Null if the file does not exist. */
function load(source: ManagedPreset['source'], path: string, whyNot: (file: number) => string | null): Found | null {
  try {
    const text = readTrusted(path, whyNot);
    return { preset: { source, path, ...readTeamPreset(text, path) }, problem: null };
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    const problem =
      error instanceof GatewayError ? error.message : `${path} is ignored: ${describeFileProblem(error)}.`;
    return { preset: null, problem };
  }
}

/** Checks and reads through one descriptor, so that the checked file is the one that is read. */
function readTrusted(path: string, whyNot: (file: number) => string | null): string {
  const file = openRegularFileSync(path);
  try {
    const reason = whyNot(file);
    if (reason) throw new GatewayError('invalid_value', `The policy ${path} is ignored: ${reason}.`);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

const othersMayWrite = 0o022;

function whyNotTrusted(file: number, path: string, ownerId: number | null): string | null {
  if (ownerId === null) return null;
  const all = [
    { name: 'it', stats: fstatSync(file) },
    { name: 'its folder', stats: statSync(dirname(path)) },
  ];
  for (const { name, stats } of all) {
    if (stats.uid !== ownerId) return `${name} must belong to root`;
    if ((stats.mode & othersMayWrite) !== 0) return `${name} can be written by others than root`;
  }
  return null;
}

/** The path of the policy file. */
export function policyPath(platform: NodeJS.Platform, env: Readonly<Record<string, string | undefined>>): string {
  if (platform === 'darwin') return '/Library/Application Support/Sluice/policy.json';
  // Any user may create folders in ProgramData; in Program Files only administrators may.
  if (platform === 'win32') return win32.join(env.ProgramFiles || 'C:\\Program Files', 'Sluice Policy', 'policy.json');
  return '/etc/sluice/policy.json';
}
