import { after, before, describe } from 'node:test'
import { testPlugin } from 'waypost/testing'
import { lacksRedis, startRedis, type TestRedis } from '../../../test/support/redis.ts'
import plugin from '../src/index.ts'

let declared: Promise<void> | undefined
describe('the contract of plugins', { skip: lacksRedis }, () => {
  let redis: TestRedis
  before(async () => {
    redis = await startRedis()
  })
  after(() => redis.stop())

  declared = testPlugin(plugin, {
    module: import.meta.resolve('../src/index.ts'),
    connections: {
      redis: { config: () => ({ url: redis.url }), down: (port) => ({ url: `redis://127.0.0.1:${port}` }) },
    },
  })
  return declared
})
await declared // tests that are declared once the file is loaded would be in no file
