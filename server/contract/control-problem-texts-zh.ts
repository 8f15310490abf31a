/** The control plane's errors in Chinese, for the window and the desktop's tray. */
import { causeTextZh } from './causes.ts';
import type { TextsOf } from './coded.ts';
import type { ControlProblems } from './control-problem.ts';

const parts: Record<string, string> = {
  provider: '服务商',
  alias: '别名',
  group: '分组',
  key: '密钥',
  setting: '设置',
};
const jsonExtras: Record<string, string> = { comment: '注释', comma: '末尾多余的逗号', mark: '字节顺序标记（BOM）' };
const partName = (part: string) => parts[part] ?? part;
const asking = (contact: string | null) => (contact === null ? '' : `请联系 ${contact}。`);

export const controlProblemTextsZh: TextsOf<ControlProblems> = {
  'no-provider': ({ id }) => `没有服务商“${id}”。`,
  'no-key': ({ id }) => `没有密钥“${id}”。`,
  'no-group': ({ id }) => `没有分组“${id}”。`,
  'no-alias': ({ id }) => `没有别名“${id}”。`,
  'no-preset': ({ id }) => `没有预设“${id}”；“sluice provider presets” 可列出全部预设。`,
  'no-credential': ({ id }) => `没有凭据“${id}”。`,
  'request-runs': ({ id }) => `请求“${id}”仍在运行。请在它结束后再固定。`,
  'too-many-pins': ({ most }) => `已固定 ${most} 个请求，达到上限。请先取消固定其中一个。`,
  'no-session': ({ id }) => `请求记录中没有会话“${id}”。`,
  'no-request': ({ id }) => `请求记录中没有请求“${id}”。`,
  'changed-meanwhile': () => '配置已在别处更改。请查看后再作更改。',
  'file-changed': ({ path }) => `Sluice 运行期间，${path} 被其他程序更改了。请重新启动 Sluice 以使用它，然后再作更改。`,
  'not-written': ({ path, reason }) => `无法写入 ${path}：${causeTextZh(reason)}。配置保持不变。`,
  'read-only': () => '配置来自一个 Sluice 不写入的文件：请更改该文件，Sluice 会自动重新读取。',
  'not-allowed': () => '你无权执行此操作。可由此 Sluice 的管理员执行。',
  'host-reference': ({ reference }) =>
    `“${reference}”属于运行 Sluice 的机器，登录的人不能使用。可由该机器的管理者在本机操作，或将其列入 "people.hostReferences"。`,
  'no-role': ({ name }) => `${name} 在此 Sluice 中没有角色。管理员可以为你所在的组分配角色。`,
  'not-assigned': ({ name }) => `身份提供者未将此 Sluice 分配给 ${name}。身份提供者的管理员可以分配。`,
  'no-sign-in': () => '此 Sluice 未启用登录：需要 "serve --public-url" 和设置 "people"。',
  'gateway-address-wrong': ({ address }) => `“${address}”不是网关地址：请使用 https://gateway.example`,
  'gateway-away': ({ address, reason }) => `${address} 没有响应：${causeTextZh(reason)}。`,
  'gateway-not-sluice': ({ address, status }) => `${address} 不是启用了登录的 Sluice（状态码 ${status}）。`,
  'joined-already': ({ origin }) => `此 Sluice 已加入 ${origin}。`,
  'joining-expired': () => '验证码已过期，请重新开始。',
  'no-group-there': ({ origin }) => `你在 ${origin} 不能拥有密钥。那里的管理员可以把你加入某个分组。`,
  'token-without-person': () => 'API token 属于某个用户：请先在浏览器中登录，或使用 "sluice login"。',
  'no-token': ({ id }) => `没有 API token "${id}"。`,
  'no-person': ({ id }) => `没有用户 "${id}"。`,
  'scope-missing': ({ scope }) => `此 API token 缺少权限范围：${scope}。`,
  'id-taken': ({ id }) => `“${id}”已被占用：请选择另一个 ID。`,
  'id-of-demo': ({ id }) => `“${id}”是内置的演示服务商：请选择另一个 ID。`,
  'demo-by-setting': () => '内置的演示服务商只能在设置中开关。',
  'base-url-missing': () => '请选择预设或填写 Base URL。',
  'base-url-unfilled': ({ baseUrl }) => `请填写 Base URL，并补全花括号中的内容：${baseUrl}`,
  'leads-back': ({ host }) => `${host} 就是 Sluice 自身：请求会循环。请填写该服务自己的地址。`,
  'password-in-base-url': () => 'Base URL 含有密码。请去掉它，并作为凭据添加。',
  'query-in-base-url': () => 'Base URL 不能带查询或片段；Azure 的 api-version 有单独的字段。',
  'certificate-of-vendor': ({ host }) =>
    `${host} 属于已知服务，其证书必须由受信任的机构签发：其他证书来自别人。如果是公司代理出示的证书，请将其签发机构加入 settings.extraCaFiles。`,
  'password-in-proxy': () => '代理的 URL 含有密码。请为 Sluice 设置 HTTPS_PROXY，并选择“跟随系统”。',
  'secret-in-header': ({ header }) => `请求头“${header}”会以明文保存在配置中，请将其作为凭据添加。`,
  'not-for-key': ({ key, model }) => `密钥“${key}”不能使用“${model}”。`,
  'provider-in-use': ({ provider, aliases }) => `服务商“${provider}”正被别名使用：${aliases}。请先更改或移除它们。`,
  'group-in-use': ({ group, keys }) => `分组“${group}”正被密钥使用：${keys}。请先移走或吊销它们。`,
  'variable-unusable': ({ variable }) => `Sluice 环境中的变量 ${variable} 没有可用的凭据。`,
  'secret-not-kept': ({ key }) => `密钥“${key}”只显示过一次，没有保存。请更换密钥。`,
  'secret-lost': ({ key }) => `机密存储中没有密钥“${key}”。请更换密钥。`,
  'no-grace': ({ key }) => `密钥“${key}”由引用指定，新旧密钥无法并存。请选择立即更换。`,
  'cassette-unusable': ({ reason }) => `无法使用此录制文件：${causeTextZh(reason)}`,
  'prices-not-renewed': () => '尚未读取公开价格：请先将“renewPrices”设为“ask”或“apply”。',
  'prices-in-work': () => '价格正在读取或应用，请稍后再试。',
  'keychain-failed': ({ reason }) => `操作系统的钥匙串出错：${causeTextZh(reason)}。请解锁或启动它，然后重试。`,
  'hotkey-taken': ({ keys }) => `${keys} 已被其他程序使用，或由系统保留。请选择其他按键。`,
  'no-terminal': ({ reason }) => `无法打开终端：${causeTextZh(reason)}`,
  'sign-out-not-stored': ({ reason }) =>
    `所有浏览器现已退出登录，但无法保存：${causeTextZh(reason)}。下次启动后它们会重新处于登录状态；请在数据文件夹可写入后再退出一次。`,
  'client-not-configurable': ({ client }) =>
    `Sluice 不会更改“${client}”的设置。运行 sluice connect 可查看支持的客户端。`,
  'client-not-connected': ({ client }) => `Sluice 没有更改过 ${client} 的设置。`,
  'client-file-changed': () => '预览之后文件已被更改。未写入任何内容：请重新查看更改。',
  'client-file-broken': ({ path, line }) => `${path} 第 ${line} 行有语法错误。未写入任何内容：请修正文件后重试。`,
  'client-file-rejected': ({ path, client, extra, line }) =>
    `由于第 ${line} 行的${jsonExtras[extra] ?? extra}，${client} 会忽略整个 ${path}。未写入任何内容：请将其删除后重试。`,
  'client-file-uneditable': ({ path }) =>
    `Sluice 无法安全地编辑 ${path} 的现有格式。未写入任何内容：请按步骤手动设置。`,
  'client-file-unreadable': ({ path, reason }) => `无法读取 ${path}：${causeTextZh(reason)}。未写入任何内容。`,
  'client-file-not-written': ({ path, reason }) => `无法写入 ${path}：${causeTextZh(reason)}。未做任何更改。`,
  'client-file-outside-home': ({ path }) => `${path} 位于你的主目录之外，Sluice 不会写入：请按步骤手动设置。`,
  'client-folder-missing': ({ path, file }) =>
    `Sluice 在 ${path} 中查找 ${file}，但该文件夹不存在。如果它在别处，请按步骤手动设置。`,
  'adopt-unknown': () => '这不是 Sluice、LiteLLM、claude-code-router 或 CC Switch 的配置，也不是环境变量文件。',
  'adopt-syntax': ({ line }) => `无法读取：第 ${line} 行有语法错误。未导入任何内容。`,
  'adopt-broken': ({ place, wanted }) => `无法读取：${place} 处应为 ${wanted}。未导入任何内容。`,
  'fault-rule-wrong': ({ rule, fault, field, reason }) =>
    `第 ${rule} 条规则中“${fault}”${field === null ? '' : `的“${field}”`}不正确：${reason}`,
  'fault-rule-unmet': ({ rule, fault, other, instead }) =>
    `第 ${rule} 条规则的“${fault}”永远不会出现：第 ${other} 条规则让所有请求都遇到“${instead}”。`,
  'locked-against-adding': ({ part, by, contact }) => `不能添加${partName(part)}：这由 ${by} 设定。${asking(contact)}`,
  'locked-against-changing': ({ part, name, by, contact }) =>
    `不能这样更改${partName(part)}“${name}”：这由 ${by} 设定。${asking(contact)}`,
  'locked-against-removing': ({ part, name, by, contact }) =>
    `不能这样移除${partName(part)}“${name}”：这由 ${by} 设定。${asking(contact)}`,
};
