/**
 * node:http at a lower cost than an `import` of it. The import reads every exported name, and one of them loads Node's
 * own fetch and WebSocket, which costs 20 ms at a start and 13 MB. The bundle uses this file instead of node:http; a
 * name that is missing here fails the build.
 */
const http = process.getBuiltinModule('node:http');

export default http;
export const { createServer, get, request, ServerResponse } = http;
