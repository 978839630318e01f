import type { ConnectionClass } from 'waypost'
import type { HttpClient, HttpConfig } from './http-client.ts'

const secret = { type: 'string', minLength: 1, writeOnly: true }

const config = {
  type: 'object',
  required: ['url'],
  properties: {
    url: {
      type: 'string',
      description: 'The base URL, such as https://stock.example.com/v2; paths are appended to it',
      pattern: '^https?://[^/?#@]+(/[^?#]*)?$',
    },
    auth: {
      type: 'object',
      description: 'The credentials that every request carries',
      properties: {
        bearer: { ...secret, description: 'A bearer token' },
        basic: {
          type: 'object',
          description: 'A user name and a password',
          required: ['user', 'password'],
          properties: { user: { type: 'string', minLength: 1, pattern: '^[^:]*$' }, password: secret },
          additionalProperties: false,
        },
        header: {
          type: 'object',
          description: 'A custom header, such as X-Api-Key',
          required: ['name', 'value'],
          properties: { name: { type: 'string', pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$" }, value: secret },
          additionalProperties: false,
        },
      },
      minProperties: 1,
      maxProperties: 1,
      additionalProperties: false,
    },
    timeout: {
      type: 'string',
      description: 'Time until a response begins, such as 5s; at most 30s',
      pattern: '^([1-9]|[12][0-9]|30)s$|^[1-9][0-9]{0,3}ms$',
      default: '10s',
    },
    body_timeout: {
      type: 'string',
      description: 'Time from the start of the response until it is complete, such as 60s',
      pattern: '^[1-9][0-9]{0,5}(ms|s|m)$',
      default: '60s',
    },
    body_limit: {
      type: 'string',
      description: 'Maximum size of the body of a response, such as 10mb',
      pattern: '^[1-9][0-9]{0,5}(kb|mb|gb)$',
      default: '10mb',
    },
    network: {
      description:
        '"private" also allows private addresses and loopback, but not the metadata services of cloud platforms',
      enum: ['public', 'private'],
      default: 'public',
    },
  },
  additionalProperties: false,
}

/** An HTTP service. Requests go to its base URL only and do not follow redirects. */
export const http: ConnectionClass<HttpConfig, HttpClient> = {
  description: 'An HTTP service',
  config,
  clientType: '{ fetch(path: string, init?: RequestInit): Promise<Response> }',
  async open(config, { fetch }) {
    const { makeHttpClient, describeFailure } = await import('./http-client.ts')
    const client = makeHttpClient(config, fetch)
    return {
      client,
      // Any response counts, because the base URL itself need not be an operation.
      async check() {
        try {
          const response = await client.fetch('', { method: 'HEAD', redirect: 'manual' })
          await response.body?.cancel()
        } catch (cause) {
          throw new Error(describeFailure(cause), { cause })
        }
      },
      async close() {},
    }
  },
}
