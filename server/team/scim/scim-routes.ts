/**
 * SCIM 2.0 under `/scim/v2` (RFC 7644): the part that Okta and Microsoft Entra use. Only the token of the identity provider
 * opens it, and that opens nothing else.
 */
import express, {
  type ErrorRequestHandler,
  type Request,
  type RequestHandler,
  type Response,
  type Router,
} from 'express';
import { bearerSecret } from '../../apis/core/requests/client-credentials.ts';
import { GatewayError } from '../../contract/errors.ts';
import { sendContinue } from '../../http/body/read-body.ts';
import type { TrustedProxies } from '../../http/client-address.ts';
import type { ScimGroup, ScimUser } from '../../store/ports/people-store.ts';
import { asked, describeScimError, invalid, maxResults, ScimError, scimErrorOf } from './attributes.ts';
import type { Provisioning } from './provisioning.ts';

interface ScimRoutePorts {
  provisioning: Provisioning;
  proxies: TrustedProxies;
  /** Counts a request of the address. Throws a GatewayError if it has made too many. */
  limit(address: string | null): void;
  log: { error(fields: object, message: string): void };
}

/** A group of some ten thousand members. */
const maxBodyBytes = 2 * 1024 * 1024;
const jsonTypes = ['application/scim+json', 'application/json'];

export function createScimRoutes(ports: ScimRoutePorts): Router {
  const { provisioning } = ports;
  const router = express.Router({ caseSensitive: true });
  router.use(admit(ports));
  addDiscovery(router, provisioning.baseUrl);
  const json = express.json({ limit: maxBodyBytes, type: jsonTypes });
  router.use((request, response, next) => {
    if (request.url.includes('%00')) throw invalid('An address has no NUL.');
    if (['POST', 'PUT', 'PATCH'].includes(request.method) && request.is(jsonTypes) === false)
      throw new ScimError(415, `Send ${jsonTypes[0]}.`);
    sendContinue(request, response);
    json(request, response, next);
  });
  addUsers(router, ports);
  addGroups(router, ports);
  router.use((request) => {
    throw new ScimError(404, `${request.method} ${request.path} is not supported.`);
  });
  router.use(explain(ports));
  return router;
}

function admit({ provisioning, proxies, limit }: ScimRoutePorts): RequestHandler {
  return async (request, response, next) => {
    response.set({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    limit(proxies.clientOf(request));
    const secret = bearerSecret(request.headers.authorization);
    if (secret !== null && (await provisioning.admits(secret))) return next();
    response.set('www-authenticate', 'Bearer');
    throw new ScimError(401, 'This needs the token of SCIM, which "sluice scim token" makes.');
  };
}

function explain({ log }: ScimRoutePorts): ErrorRequestHandler {
  return (thrown, request, response, _next) => {
    const error = scimErrorOf(thrown);
    if (!error) log.error({ error: thrown, method: request.method, path: request.path }, 'a SCIM request failed');
    if (thrown instanceof GatewayError && thrown.retryAfterSeconds !== null)
      response.set('retry-after', String(thrown.retryAfterSeconds));
    send(
      response,
      describeScimError(error ?? new ScimError(500, 'Sluice failed to handle this request.')),
      error?.status ?? 500,
    );
  };
}

function send(response: Response, body: object, status = 200): void {
  response.status(status).type('application/scim+json').send(JSON.stringify(body));
}

function sendList(response: Response, listed: readonly object[], { total = listed.length, start = 1 } = {}): void {
  send(response, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: total,
    startIndex: start,
    itemsPerPage: listed.length,
    Resources: listed,
  });
}

function addDiscovery(router: Router, baseUrl: string): void {
  router.get('/ServiceProviderConfig', (_request, response) => send(response, serviceProviderConfig(baseUrl)));
  for (const [path, all] of [
    ['ResourceTypes', resourceTypes(baseUrl)],
    ['Schemas', schemas(baseUrl)],
  ] as const) {
    router.get(`/${path}`, (_request, response) => sendList(response, all));
    router.get(`/${path}/:id`, (request, response) => {
      const found = all.find(({ id }) => id === request.params.id);
      if (!found) throw new ScimError(404, `${path} ${request.params.id} not found.`);
      send(response, found);
    });
  }
}

const startOf = ({ query }: Request) => Math.max(1, Number(query.startIndex ?? 1));

function addUsers(router: Router, { provisioning, proxies }: ScimRoutePorts): void {
  const described = async (user: ScimUser) =>
    describeUser(user, await provisioning.groupsOf(user.id), provisioning.baseUrl);
  const sendUser = async (request: Request, response: Response, user: ScimUser, status = 200) => {
    const resource = await described(user);
    response.location(resource.meta.location);
    send(response, asked(resource, request.query), status);
  };
  router.get('/Users', async (request, response) => {
    const { found, total } = await provisioning.findUsers(request.query);
    const resources = [];
    for (const user of found) resources.push(asked(await described(user), request.query));
    sendList(response, resources, { total, start: startOf(request) });
  });
  router.post('/Users', async (request, response) => {
    const user = await provisioning.createUser(request.body, proxies.clientOf(request));
    await sendUser(request, response, user, 201);
  });
  router
    .route('/Users/:id')
    .get(async (request, response) => sendUser(request, response, await provisioning.user(request.params.id)))
    .put(async (request, response) => {
      const { params, body } = request;
      await sendUser(request, response, await provisioning.replaceUser(params.id, body, proxies.clientOf(request)));
    })
    .patch(async (request, response) => {
      const { params, body } = request;
      await sendUser(request, response, await provisioning.patchUser(params.id, body, proxies.clientOf(request)));
    })
    .delete(async (request, response) => {
      await provisioning.removeUser(request.params.id, proxies.clientOf(request));
      response.status(204).end();
    });
}

function addGroups(router: Router, { provisioning, proxies }: ScimRoutePorts): void {
  const described = async (group: ScimGroup, { query }: Request) => {
    const isListed = 'members' in asked({ members: [] }, query);
    const members = isListed ? await provisioning.members(group.id) : [];
    return asked(describeGroup(group, members, provisioning.baseUrl), query);
  };
  router.get('/Groups', async (request, response) => {
    const { found, total } = await provisioning.findGroups(request.query);
    const resources = [];
    for (const group of found) resources.push(await described(group, request));
    sendList(response, resources, { total, start: startOf(request) });
  });
  router.post('/Groups', async (request, response) => {
    const group = await provisioning.createGroup(request.body, proxies.clientOf(request));
    response.location(`${provisioning.baseUrl}/Groups/${group.id}`);
    send(response, await described(group, request), 201);
  });
  router
    .route('/Groups/:id')
    .get(async (request, response) => {
      send(response, await described(await provisioning.group(request.params.id), request));
    })
    .put(async (request, response) => {
      const group = await provisioning.replaceGroup(request.params.id, request.body, proxies.clientOf(request));
      send(response, await described(group, request));
    })
    // Without the group, which may have many members.
    .patch(async (request, response) => {
      await provisioning.patchGroup(request.params.id, request.body, proxies.clientOf(request));
      response.status(204).end();
    })
    .delete(async (request, response) => {
      await provisioning.removeGroup(request.params.id, proxies.clientOf(request));
      response.status(204).end();
    });
}

function metaOf(resourceType: 'User' | 'Group', { id, createdAt, modifiedAt }: ScimUser | ScimGroup, baseUrl: string) {
  return {
    resourceType,
    created: new Date(createdAt).toISOString(),
    lastModified: new Date(modifiedAt).toISOString(),
    location: `${baseUrl}/${resourceType}s/${id}`,
  };
}

function describeUser(user: ScimUser, groups: readonly ScimGroup[], baseUrl: string) {
  const { userName, externalId, active, displayName, name, emails } = user.attributes;
  return {
    schemas: [userSchema],
    id: user.id,
    ...(externalId !== null && { externalId }),
    userName,
    ...(Object.keys(name).length > 0 && { name }),
    ...(displayName !== null && { displayName }),
    active,
    emails,
    groups: groups.map(({ id, displayName: display }) => ({ value: id, display })),
    meta: metaOf('User', user, baseUrl),
  };
}

function describeGroup(group: ScimGroup, members: readonly { id: string; userName: string }[], baseUrl: string) {
  const { id, displayName, externalId } = group;
  return {
    schemas: [groupSchema],
    id,
    ...(externalId !== null && { externalId }),
    displayName,
    members: members.map(({ id: value, userName: display }) => ({ value, display })),
    meta: metaOf('Group', group, baseUrl),
  };
}

// What Sluice says of its SCIM (RFC 7643, 5 to 7), as the answers of /ServiceProviderConfig, /ResourceTypes and /Schemas.

const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';
const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';

function serviceProviderConfig(baseUrl: string) {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: false },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'The token that "sluice scim token" prints.',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${baseUrl}/ServiceProviderConfig` },
  };
}

function resourceTypes(baseUrl: string) {
  const ofType = (name: string, schema: string) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    id: name,
    name,
    endpoint: `/${name}s`,
    schema,
    meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/${name}` },
  });
  return [ofType('User', userSchema), ofType('Group', groupSchema)];
}

interface Attribute {
  name: string;
  type: 'string' | 'boolean' | 'complex' | 'reference';
  multiValued: boolean;
  required: boolean;
  caseExact: boolean;
  mutability: 'readWrite' | 'readOnly' | 'immutable';
  returned: 'default';
  uniqueness: 'none' | 'server';
  subAttributes?: Attribute[];
}

const attribute = (name: string, more: Partial<Attribute> = {}): Attribute => ({
  ...{ name, type: 'string', multiValued: false, required: false, caseExact: false },
  ...{ mutability: 'readWrite', returned: 'default', uniqueness: 'none' },
  ...more,
});

const complex = (name: string, subAttributes: Attribute[], multiValued: boolean): Attribute =>
  attribute(name, { type: 'complex', subAttributes, multiValued });

const externalId = (uniqueness: Attribute['uniqueness']) => attribute('externalId', { caseExact: true, uniqueness });

function schemas(baseUrl: string) {
  const schema = (id: string, name: string, attributes: Attribute[]) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    ...{ id, name, attributes },
    meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${id}` },
  });
  return [
    schema(userSchema, 'User', [
      attribute('userName', { required: true, uniqueness: 'server' }),
      externalId('server'),
      attribute('displayName'),
      attribute('active', { type: 'boolean' }),
      complex(
        'name',
        ['formatted', 'familyName', 'givenName', 'middleName', 'honorificPrefix', 'honorificSuffix'].map((name) =>
          attribute(name),
        ),
        false,
      ),
      complex(
        'emails',
        [attribute('value'), attribute('type'), attribute('display'), attribute('primary', { type: 'boolean' })],
        true,
      ),
      { ...complex('groups', [attribute('value'), attribute('display')], true), mutability: 'readOnly' },
    ]),
    schema(groupSchema, 'Group', [
      attribute('displayName', { required: true, uniqueness: 'server' }),
      externalId('none'),
      complex('members', [attribute('value', { mutability: 'immutable' }), attribute('display')], true),
    ]),
  ];
}
