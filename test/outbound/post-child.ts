// Posts to the given address and prints the result.
import { openOutbound } from '../../src/outbound/index.ts'

const outbound = openOutbound({ allow: () => [], loopback: true })
const { status, answer, failure } = await outbound.post({
  url: process.argv[2]!,
  headers: {},
  body: '{}',
  timeoutMs: 5000,
})
process.stdout.write(`${status} ${answer ?? failure}\n`)
await outbound.close()
