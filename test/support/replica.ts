/** One of several gateways that share a database. */
import type { ConfigInput } from '../../server/contract/config.ts';
import { openSharedStore, type SharedStore } from '../../server/store/postgres/open-shared.ts';
import { startGateway, type TestGateway, type TestPorts } from './gateway.ts';

interface ReplicaOptions {
  /** URL of the database. The connection is open until the replica has stopped. */
  url: string;
  /** Committed if nothing is stored yet. */
  initial: ConfigInput;
  /** Additional ports. */
  ports?(store: SharedStore): TestPorts;
}

export async function startReplica({ url, initial, ports = () => ({}) }: ReplicaOptions): Promise<TestGateway> {
  const store = await openSharedStore({ address: url, env: {}, key: {}, log: { warn() {}, error() {} } });
  if (store.config.isFirstRun) await store.config.commit(initial);
  const { config, openStore } = store;
  const gateway = await startGateway({ ports: { config, openStore, ...ports(store) } });
  return {
    ...gateway,
    async stop() {
      await gateway.stop();
      await store.close();
    },
  };
}
