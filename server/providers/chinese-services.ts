/** Services in China. If a service has another address for accounts outside China, its hint names that address. */
import type { Preset } from '../contract/preset.ts';
import { service } from './make-preset.ts';

export const chineseServices: readonly Preset[] = [
  // Source: platform.kimi.com/docs/api/overview; platform.kimi.ai documents `/responses` for api.moonshot.ai only.
  service({
    id: 'moonshot',
    name: 'Moonshot AI (Kimi)',
    baseUrl: 'https://api.moonshot.cn/v1',
    environment: ['MOONSHOT_API_KEY'],
    keyPage: 'https://platform.moonshot.cn/console/api-keys',
    hint: 'For an account of platform.kimi.ai, set the base URL to https://api.moonshot.ai/v1 after adding it.',
  }),
  // Source: docs.bigmodel.cn, "OpenAI API compatibility".
  service({
    id: 'zhipu',
    name: 'Zhipu (BigModel)',
    baseUrl: 'https://open.bigmodel.cn/api/paas/v4',
    environment: ['ZHIPUAI_API_KEY', 'BIGMODEL_API_KEY'],
    keyPage: 'https://open.bigmodel.cn/usercenter/proj-mgmt/apikeys',
    serves: ['chat'],
  }),
  // Source: docs.z.ai, "API reference: introduction".
  service({
    id: 'zai',
    name: 'Z.ai',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    environment: ['ZAI_API_KEY'],
    keyPage: 'https://z.ai/manage-apikey/apikey-list',
    hint: 'For the GLM coding plan, set the base URL to https://api.z.ai/api/coding/paas/v4 after adding it.',
    serves: ['chat'],
  }),
  // Source: help.aliyun.com/zh/model-studio, "OpenAI compatible - Chat".
  service({
    id: 'dashscope',
    name: 'Alibaba Cloud (DashScope)',
    baseUrl: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
    environment: ['DASHSCOPE_API_KEY'],
    keyPage: 'https://bailian.console.aliyun.com/?tab=model#/api-key',
    hint: 'For an international account, set the base URL to https://dashscope-intl.aliyuncs.com/compatible-mode/v1 after adding it.',
  }),
  // Source: docs.siliconflow.cn, "API reference".
  service({
    id: 'siliconflow',
    name: 'SiliconFlow',
    baseUrl: 'https://api.siliconflow.cn/v1',
    environment: ['SILICONFLOW_API_KEY'],
    keyPage: 'https://cloud.siliconflow.cn/account/ak',
    hint: 'For an account of siliconflow.com, set the base URL to https://api.siliconflow.com/v1 after adding it.',
    serves: ['chat'],
  }),
  // Source: volcengine.com/docs/82379, "Compatibility with the OpenAI SDK".
  service({
    id: 'volcengine',
    name: 'Volcengine Ark (Doubao)',
    baseUrl: 'https://ark.cn-beijing.volces.com/api/v3',
    environment: ['ARK_API_KEY', 'VOLCENGINE_API_KEY'],
    keyPage: 'https://console.volcengine.com/ark/region:ark+cn-beijing/apiKey',
    hint: 'Models have to be activated in the Ark console. An inference endpoint (ep-…) can be used as a model name.',
    serves: ['chat', 'responses'],
  }),
  // Source: platform.minimax.io/docs/api-reference, "OpenAI SDK" and "List models".
  service({
    id: 'minimax',
    name: 'MiniMax',
    baseUrl: 'https://api.minimax.io/v1',
    environment: ['MINIMAX_API_KEY'],
    keyPage: 'https://platform.minimax.io/user-center/basic-information/interface-key',
    hint: 'For an account of platform.minimaxi.com, set the base URL to https://api.minimaxi.com/v1 after adding it.',
    serves: ['chat', 'responses'],
  }),
  // Source: cloud.baidu.com/doc/WENXINWORKSHOP/s/2m3fihw8s, "OpenAI SDK compatibility".
  service({
    id: 'qianfan',
    name: 'Baidu Qianfan',
    baseUrl: 'https://qianfan.baidubce.com/v2',
    environment: ['QIANFAN_API_KEY'],
    keyPage: 'https://console.bce.baidu.com/qianfan/ais/console/apiKey',
    hint: 'The credential is an API key that begins with bce-v3/, not a pair of access key and secret key.',
    serves: ['chat'],
  }),
  // Source: cloud.tencent.com/document/product/1729/111007, "OpenAI compatible API".
  service({
    id: 'hunyuan',
    name: 'Tencent Hunyuan',
    baseUrl: 'https://api.hunyuan.cloud.tencent.com/v1',
    environment: ['HUNYUAN_API_KEY'],
    keyPage: 'https://console.cloud.tencent.com/hunyuan/api-key',
    serves: ['chat'],
  }),
];
