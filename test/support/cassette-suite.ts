/** Gateways that record to a cassette, and gateways that replay it. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { OpenCassette } from '../../server/cassettes/deck.ts';
import type { RecordedExchange } from '../../server/cassettes/format.ts';
import type { CassetteMode } from '../../server/contract/cassette.ts';
import type { ConfigInput } from '../../server/contract/config.ts';
import { mainProvider, startGateway, type TestGateway } from './gateway.ts';
import { type ScriptedUpstream, startUpstream } from './upstream.ts';

export const hello = { model: 'gpt-x', messages: [{ role: 'user' as const, content: 'Hi' }] };

/** Provides an empty cassette and a new upstream for each test. */
export class CassetteSuite {
  /** Reported problems with writing. */
  readonly problems: string[] = [];
  #folder = '';
  #upstream: ScriptedUpstream | undefined;
  readonly #gateways: TestGateway[] = [];

  get folder(): string {
    return this.#folder;
  }

  get upstream(): ScriptedUpstream {
    if (!this.#upstream) throw new Error('An upstream is there during tests only.');
    return this.#upstream;
  }

  /** Registers the hooks; must be called at the top level of a test file. */
  use(): this {
    beforeEach(async () => {
      this.#folder = mkdtempSync(join(tmpdir(), 'sluice-cassette-'));
      this.#upstream = await startUpstream();
      this.problems.length = 0;
    });
    afterEach(async () => {
      for (const gateway of this.#gateways.splice(0)) await gateway.stop();
      await this.#upstream?.stop();
      rmSync(this.#folder, { recursive: true, force: true });
    });
    return this;
  }

  /** Starts a gateway. When recording, its provider is the upstream; when replaying, it has no provider. */
  async open(mode: CassetteMode, config: Partial<ConfigInput> = {}, pace = 0) {
    const problem = (line: string) => this.problems.push(line);
    const cassette = await OpenCassette.open({ folder: this.folder, mode, pace, problem });
    const providers = mode === 'replay' ? [] : [mainProvider(this.upstream.baseUrl)];
    const gateway = this.keep(await startGateway({ config: { providers, ...config }, ports: { cassette } }));
    return { cassette, gateway };
  }

  /** Stops the gateway after the test. */
  keep<Started extends TestGateway>(gateway: Started): Started {
    this.#gateways.push(gateway);
    return gateway;
  }

  /** The recordings with their file names, in order. */
  recordings(): [string, RecordedExchange][] {
    const names = readdirSync(this.folder).filter((name) => name !== 'cassette.json');
    return names.sort().map((name) => [name, JSON.parse(readFileSync(join(this.folder, name), 'utf8'))]);
  }
}

export async function ask(gateway: TestGateway, body: object, path = '/chat/completions') {
  const response = await gateway.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { response, text: await response.text() };
}
