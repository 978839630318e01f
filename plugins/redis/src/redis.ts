import type { ConnectionClass } from 'waypost'
import type { RedisClient } from './open-redis.ts'

interface Config {
  readonly url: string
  readonly timeout: string
}

const config = {
  type: 'object',
  required: ['url'],
  properties: {
    url: {
      type: 'string',
      description: 'redis://USER:PASSWORD@HOST:PORT/DATABASE, or rediss:// for TLS',
      pattern: '^rediss?://',
      writeOnly: true,
    },
    timeout: {
      type: 'string',
      description: 'The time limit for connecting and for each response; at least 100ms',
      pattern: '^[1-9][0-9]{2,4}ms$|^[1-9][0-9]?s$',
      default: '1s',
    },
  },
  additionalProperties: false,
}

/** A Redis, or a server that is compatible with Redis 6, such as Valkey. */
export const redis: ConnectionClass<Config, RedisClient> = {
  description: 'A Redis server',
  config,
  clientType: "import('@waypost/plugin-redis').RedisClient",
  capabilities: ['count'],
  async open({ url, timeout }, { log, name }) {
    // The driver is loaded on open, so that `validate` does not wait for it.
    const { openRedis } = await import('./open-redis.ts')
    const timeoutMs = Number.parseInt(timeout, 10) * (timeout.endsWith('ms') ? 1 : 1000)
    return openRedis({ url, timeoutMs, name, log })
  },
}
