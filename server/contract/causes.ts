/**
 * What errors of the operating system, of TLS and of connections mean to people. They come in English and in the words of
 * programmers, so that the command line shows them as they are; the window says them in its language. Pure.
 */

/** What is recognised, in English, or null where that is plain as it is, and in Chinese. `$1` … are its groups. */
type Rule = readonly [found: RegExp, en: string | null, zh: string];

const host = String.raw`([^\s,;]+)`;
const rules: readonly Rule[] = [
  [RegExp(`getaddrinfo (ENOTFOUND|ENODATA|EAI_NONAME) ${host}`), 'there is no host $2 ($1)', '找不到主机 $2（$1）'],
  [RegExp(`getaddrinfo (E[A-Z_]+) ${host}`), 'the name $2 could not be looked up ($1)', '无法查询主机名 $2（$1）'],
  [RegExp(`connect (ECONNREFUSED) ${host}`), '$2 refuses connections ($1)', '$2 拒绝连接（$1）'],
  [
    RegExp(`connect (EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL) ${host}(?: - Local \\([^)]*\\))?`),
    '$2 cannot be reached ($1)',
    '无法到达 $2（$1）',
  ],
  [RegExp(`connect (ETIMEDOUT) ${host}`), '$2 does not answer ($1)', '$2 没有响应（$1）'],
  [/\b(?:read|write) (ECONNRESET|EPIPE|ECONNABORTED|ETIMEDOUT)\b/, 'the connection broke ($1)', '连接中断（$1）'],
  [/^socket hang up$|^other side closed$/, 'the other side closed the connection', '对方关闭了连接'],
  [/\b(ENOSPC): no space left on device(?:, \w+)?/, 'the disk is full ($1)', '磁盘已满（$1）'],
  [/database or disk is full/, 'the disk is full', '磁盘已满'],
  [
    /\b(EACCES|EPERM): (?:permission denied|operation not permitted), \w+ '([^']*)'(?: -> '[^']*')?/,
    'no permission for $2 ($1)',
    '没有权限访问 $2（$1）',
  ],
  [
    /\b(EROFS): read-only file system, \w+ '([^']*)'/,
    'the disk of $2 is read-only ($1)',
    '$2 所在的磁盘是只读的（$1）',
  ],
  [/\b(ENOENT): no such file or directory, \w+ '([^']*)'(?: -> '[^']*')?/, 'there is no $2 ($1)', '$2 不存在（$1）'],
  [
    /\b(EMFILE|ENFILE): (?:file table overflow|too many open files)(?:, \w+)?(?: '[^']*')?/,
    'too many files are open ($1)',
    '打开的文件过多（$1）',
  ],
  [RegExp(`no secure connection to ${host}: `), null, '无法与 $1 建立安全连接：'],
  [/self-signed certificate in certificate chain/, null, '证书链中有自签名证书'],
  [/self-signed certificate/, null, '证书是自签名的'],
  [/unable to verify the first certificate|unable to get (?:local )?issuer certificate/, null, '无法验证证书的颁发者'],
  [/certificate has expired/, null, '证书已过期'],
  [/certificate is not yet valid/, null, '证书尚未生效'],
  [
    /Hostname\/IP does not match certificate's altnames: [^;]*/,
    'the certificate is for another name',
    '证书属于另一个名称',
  ],
  [/wrong version number|packet length too long/, 'there is no TLS on this port', '该端口不使用 TLS'],
  [/; its certificate was issued by "([^"]*)"/, null, '；其证书由“$1”颁发'],
  [RegExp(`proxy ${host}: `), null, '代理 $1：'],
  [/(?:the proxy|it) asks for a name and password \(407\)/, null, '代理要求用户名和密码（407）'],
  [/it answered (\d{3}) when asked for a connection/, null, '请求建立连接时返回 $1'],
  [/it did not answer like an HTTP proxy/, null, '它的响应不像 HTTP 代理'],
  [/no connection within (\d+) ms/, null, '$1 毫秒内没有建立连接'],
  [RegExp(`no address of ${host} within (\\d+) ms`), null, '$2 毫秒内没有查到 $1 的地址'],
  [/(?:no answer|nothing more|no complete answer|no useful data) within (\d+) ms/, null, '$1 毫秒内没有收到响应'],
  [/the connection broke/, null, '连接中断'],
  [/the answer could not be read/, null, '无法读取响应'],
  // What is said of the public tables of prices and exchange rates.
  [/^It took longer than a minute\.$/, null, '用时超过一分钟'],
  [/^(\S+) answers (\d{3})\.$/, null, '$1 返回了 $2'],
  [/^(\S+) redirects too often\.$/, null, '$1 重定向次数过多'],
  [/^It leads to (\S+), which is not https\.$/, null, '它转到 $1，而不是 https'],
  [/^It is larger than 5 MiB\.$/, null, '内容超过 5 MiB'],
  [/^It is not JSON\.$/, null, '内容不是 JSON'],
  [/^It is not a table of models\.$/, null, '内容不是模型价格表'],
  [/^It has no rate of the US dollar\.$/, null, '其中没有美元汇率'],
  [/^It has prices of (\d+) models only, where (\d+) are known\.$/, null, '其中只有 $1 个模型的价格，而已知的有 $2 个'],
  [
    /^The rate would change more than fivefold \((.*)\), so it stays as it was\. If it is right, set it by hand\.$/,
    null,
    '汇率变化会超过五倍（$1），因此保持不变。如果无误，请手动设置',
  ],
];

/** The same for people who read English; what is not recognised stays as it is. */
export function causeText(raw: string): string {
  return rules.reduce((text, [found, en]) => (en === null ? text : text.replace(found, en)), raw);
}

/** The same in Chinese, as far as it is recognised. */
export function causeTextZh(raw: string): string {
  return rules.reduce((text, [found, , zh]) => text.replace(found, zh), raw);
}
