import { after, before, describe } from 'node:test'
import { testPlugin } from 'waypost/testing'
import { lacksRedis, startRedis, type TestRedis } from '../../../test/support/redis.ts'
import plugin from '../src/index.ts'

describe('the contract of plugins', { skip: lacksRedis }, async () => {
  let redis: TestRedis
  before(async () => {
    redis = await startRedis()
  })
  after(() => redis.stop())

  await testPlugin(plugin, {
    module: import.meta.resolve('../src/index.ts'),
    connections: {
      redis: { config: () => ({ url: redis.url }), down: (port) => ({ url: `redis://127.0.0.1:${port}` }) },
    },
  })
})
