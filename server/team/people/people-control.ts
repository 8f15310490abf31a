/** Commands and queries about people and tokens; they are refused where people do not sign in. */
import type { CommandMap, CommandResults } from '../../contract/commands.ts';
import { controlError } from '../../contract/control-error.ts';
import type { QueryMap, QueryResults } from '../../contract/queries.ts';
import type { Caller } from './caller.ts';
import type { PeopleService } from './people-service.ts';

type PeopleServiceView = Pick<PeopleService, 'createToken' | 'listTokens' | 'listPeople' | 'end' | 'readAudit'>;

export class PeopleControl {
  readonly #service: PeopleServiceView | null;

  constructor(service: PeopleServiceView | null) {
    this.#service = service;
  }

  whoAmI(by: Caller | undefined): QueryResults['who-am-i'] {
    return { person: by?.person ?? null, signsIn: this.#service !== null };
  }

  /** Like all methods here, rejects with a GatewayError `not_found` where people do not sign in. */
  async createToken(
    command: CommandMap['token.create'],
    by: Caller | undefined,
  ): Promise<CommandResults['token.create']> {
    const service = this.#present;
    // The administrator of the machine has the admin token.
    if (!by) throw controlError('forbidden', { code: 'token-without-person' });
    const { id, secret, expiresAt } = await service.createToken(by, command);
    return { id, secret, expiresAt };
  }

  async revokeToken({ id }: CommandMap['token.revoke'], by: Caller | undefined): Promise<Record<string, never>> {
    const ownTokens = await this.tokens(by);
    if (!ownTokens.some((token) => token.id === id)) throw controlError('not_found', { code: 'no-token', id });
    await this.#present.end({ id });
    return {};
  }

  async signOut({ id }: CommandMap['person.sign-out']): Promise<CommandResults['person.sign-out']> {
    return { ended: await this.#present.end({ personId: id }) };
  }

  people(): Promise<QueryResults['people']> {
    return this.#present.listPeople();
  }

  tokens(by: Caller | undefined): Promise<QueryResults['tokens']> {
    return this.#present.listTokens(!by || by.person.isAdmin ? null : by.person.id);
  }

  audit({ before, limit, personId }: QueryMap['audit']): Promise<QueryResults['audit']> {
    return this.#present.readAudit({ before: before ?? null, limit, personId });
  }

  get #present(): PeopleServiceView {
    if (!this.#service) throw controlError('not_found', { code: 'no-sign-in' });
    return this.#service;
  }
}
