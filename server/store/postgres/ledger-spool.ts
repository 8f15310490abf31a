/**
 * Batches of the ledger in this replica's data folder, while the database is away: in order, bounded, and kept over a restart. The
 * rows of a batch are one file, its captures another: these are far larger, and are given up first. Rows are stored as they are in memory,
 * so the next version of the program has to understand those of this one: a field that is added may be missing.
 */
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { messageOf } from '../../database/failures.ts';
import { temporaryInfix, writeFileDurably } from '../../files/durable-file.ts';
import { describeFileProblem, systemErrorCode } from '../../files/file-problem.ts';
import type { Capture } from '../../ledger/capture-rows.ts';
import { createSerialQueue } from '../../serial-queue.ts';
import type { Batch } from './ledger-writer.ts';

interface Options {
  /** Made when it is needed, and private to this user. */
  folder: string;
  /** A UUID of this run of this replica. */
  replica: string;
  log: { warn(fields: object, message: string): void };
  /** Of all files together. Default 256 MB. */
  maxBytes?: number;
}

const defaultMaxBytes = 256 * 1024 * 1024;
/** `000000000012-UUID.345.rows`, with the position and the number of rows. */
const namePattern = /^(\d{12})-([\da-f-]{36})\.(\d+)\.rows$/;

interface Entry {
  id: string;
  /** Of its files, without `.rows` or `.captures`. */
  path: string;
  rows: number;
  rowBytes: number;
  /** 0: there are none, or no longer. */
  captureBytes: number;
}

export class LedgerSpool {
  readonly #options: Options;
  readonly #maxBytes: number;
  readonly #entries: Entry[];
  readonly #inOrder = createSerialQueue();
  #position: number;
  /** Why the latest batch could not be added. */
  #problem: string | null = null;
  #lostRows = 0;
  #lostCaptures = 0;

  private constructor(options: Options, entries: Entry[], position: number) {
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? defaultMaxBytes;
    this.#entries = entries;
    this.#position = position;
  }

  /** With what an earlier run has left. Where the folder cannot be read, with nothing. */
  static async open(options: Options): Promise<LedgerSpool> {
    const { folder, log } = options;
    const entries: Entry[] = [];
    let position = 0;
    try {
      for (const name of (await readdir(folder)).sort()) {
        if (name.includes(temporaryInfix)) await rm(join(folder, name));
        const [, place, id = '', rows] = namePattern.exec(name) ?? [];
        if (place === undefined) continue;
        const path = join(folder, name.slice(0, -'.rows'.length));
        const [rowBytes, captureBytes] = await Promise.all([sizeOf(`${path}.rows`), sizeOf(`${path}.captures`)]);
        entries.push({ id, path, rows: Number(rows), rowBytes, captureBytes });
        position = Number(place);
      }
    } catch (error) {
      if (systemErrorCode(error) !== 'ENOENT')
        log.warn({ error: messageOf(error), folder }, 'the requests that wait on disk cannot be read');
    }
    return new LedgerSpool(options, entries, position);
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** That wait on disk. */
  get rows(): number {
    return this.#entries.reduce((sum, { rows }) => sum + rows, 0);
  }

  /** Rows of files that could not be read since the start. */
  get lostRows(): number {
    return this.#lostRows;
  }

  has({ id }: Pick<Batch, 'id'>): boolean {
    return this.#entries.some((entry) => entry.id === id);
  }

  /** Puts a batch behind all others. False, and nothing has changed, if there is no room for its rows. Never rejects. */
  add(batch: Batch): Promise<boolean> {
    return this.#inOrder(() => this.#add(batch));
  }

  /** The first batch; null if there is none. Batches whose file cannot be read are lost and counted. Never rejects. */
  oldest(): Promise<Batch | null> {
    return this.#inOrder(async () => {
      for (let [first] = this.#entries; first; [first] = this.#entries) {
        const batch = await this.#read(first);
        if (batch) return batch;
        this.#entries.shift();
        this.#lostRows += first.rows;
      }
      return null;
    });
  }

  /** To be called once a batch is written. Never rejects. */
  remove({ id }: Pick<Batch, 'id'>): Promise<void> {
    return this.#inOrder(async () => {
      const index = this.#entries.findIndex((entry) => entry.id === id);
      const [entry] = index === -1 ? [] : this.#entries.splice(index, 1);
      if (!entry) return;
      // A file that stays is written again at the next start, and counts once.
      for (const kind of ['captures', 'rows']) await rm(`${entry.path}.${kind}`, { force: true }).catch(() => {});
    });
  }

  async #add({ id, rows, captures = [], ...rest }: Batch): Promise<boolean> {
    const { folder, replica } = this.#options;
    try {
      const content = serialize({ replica, ...rest, rows });
      await this.#makeRoom(content.length);
      if (this.#bytes + content.length > this.#maxBytes) return this.#refuse('its share of the disk is used');
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = join(folder, `${String(++this.#position).padStart(12, '0')}-${id}.${rows.length}`);
      await writeFileDurably(`${path}.rows`, content);
      const entry = { id, path, rows: rows.length, rowBytes: content.length, captureBytes: 0 };
      this.#entries.push(entry);
      entry.captureBytes = await this.#addCaptures(path, captures);
      this.#problem = null;
      return true;
    } catch (error) {
      return this.#refuse(describeFileProblem(error));
    }
  }

  /** Told once, since what cannot be added is tried again every second. */
  #refuse(problem: string): false {
    const { folder, log } = this.#options;
    if (problem !== this.#problem) log.warn({ error: problem, folder }, 'no more requests can wait on disk');
    this.#problem = problem;
    return false;
  }

  /** Resolves with their number of bytes. */
  async #addCaptures(path: string, captures: readonly Capture[]): Promise<number> {
    if (captures.length === 0) return 0;
    const content = serialize(captures);
    try {
      if (this.#bytes + content.length <= this.#maxBytes) {
        await writeFileDurably(`${path}.captures`, content);
        return content.length;
      }
    } catch {
      // The rows are there, which matter more.
    }
    this.#noteLostCaptures();
    return 0;
  }

  async #read({ id, path, captureBytes }: Entry): Promise<Batch | null> {
    try {
      const batch: Omit<Batch, 'id'> = deserialize(await readFile(`${path}.rows`));
      const captures: Capture[] = captureBytes > 0 ? deserialize(await readFile(`${path}.captures`)) : [];
      return { ...batch, id, captures };
    } catch (error) {
      this.#options.log.warn({ error: messageOf(error), path }, 'requests that wait on disk cannot be read');
      return null;
    }
  }

  get #bytes(): number {
    return this.#entries.reduce((sum, { rowBytes, captureBytes }) => sum + rowBytes + captureBytes, 0);
  }

  /** Gives up captures, the oldest first. */
  async #makeRoom(neededBytes: number): Promise<void> {
    for (const entry of this.#entries) {
      if (entry.captureBytes === 0) continue;
      if (this.#bytes + neededBytes <= this.#maxBytes) return;
      await rm(`${entry.path}.captures`, { force: true });
      entry.captureBytes = 0;
      this.#noteLostCaptures();
    }
  }

  #noteLostCaptures(): void {
    if (this.#lostCaptures++ > 0) return;
    const { folder, log } = this.#options;
    log.warn({ folder }, 'captured texts are lost, since no more may wait on disk');
  }
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}
