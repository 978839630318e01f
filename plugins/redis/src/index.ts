import { definePlugin } from 'waypost'
import { redis } from './redis.ts'

export type { RedisClient } from './open-redis.ts'

export default definePlugin({ name: 'redis', requires: '^1.0.0', connections: { redis } })
