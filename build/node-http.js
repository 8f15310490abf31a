/**
 * node:http without what an `import` of it costs: the import reads every name the module exports, and one of them loads
 * all of Node's own fetch and WebSocket, for 20 ms of a start and 13 MB. The bundle takes this in place of node:http; a
 * name that is missing here fails the build.
 */
const http = process.getBuiltinModule('node:http');

export default http;
export const { createServer, get, request, ServerResponse } = http;
