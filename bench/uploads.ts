import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { openChild } from './child.ts'
import { atLeast, atMost, beside, type Figure } from './goal.ts'
import { scaled } from './scale.ts'
import { median } from './statistics.ts'
import type { UploadReport } from './upload-process.ts'

const mb = 1024 ** 2
const bytes = scaled(100 * mb, mb)
const rounds = scaled(9)
/** The required share of the hand-written server's bytes per second, and the memory above that of an idle server. */
const goals = { rate: 0.9, memoryMb: 40 }

const boundary = 'bench-boundary'
const head = Buffer.from(
  `--${boundary}\r\nContent-Disposition: form-data; name="title"\r\n\r\nA film\r\n` +
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="film.bin"\r\nContent-Type: application/octet-stream\r\n\r\n`,
)
const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
const chunk = Buffer.alloc(mb, 'a film has many bytes ')

/**
 * Uploads a file of 100 MB to Waypost, and to a server that is written by hand with Fastify and `@fastify/multipart`. Both
 * put it into a temporary file until the response is sent, and take turns.
 */
export async function measureUploads(): Promise<Figure[]> {
  const servers = await Promise.all(['waypost', 'fastify'].map(open))
  try {
    for (const server of servers) await upload(server.port, Math.min(bytes, 10 * mb)) // compiles the code
    const idle = await Promise.all(servers.map(async ({ child }) => (await report(child)).current))
    const rates: number[][] = servers.map(() => [])
    const peaks = servers.map(() => 0)
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, server] of servers.entries()) {
        const began = performance.now()
        await upload(server.port, bytes)
        rates[index]!.push(bytes / mb / ((performance.now() - began) / 1000))
        peaks[index] = Math.max(peaks[index]!, (await report(server.child)).peak)
      }
    }
    const [own, other] = rates.map((all) => median(all)) as [number, number]
    const ratio = median(rates[0]!.map((rate, index) => rate / rates[1]![index]!))
    const [memory, otherMemory] = peaks.map((peak, index) => (peak - idle[index]!) / mb) as [number, number]
    return [
      atLeast(
        "upload of 100 MB as a part of Fastify's with @fastify/multipart",
        { value: ratio, unit: '' },
        goals.rate,
      ),
      beside('  Waypost', { value: own, unit: 'MB/s' }),
      beside('  Fastify', { value: other, unit: 'MB/s' }),
      atMost('memory above that of an idle server', { value: memory, unit: 'MB' }, goals.memoryMb),
      beside('  Fastify', { value: otherMemory, unit: 'MB' }),
    ]
  } finally {
    for (const { child } of servers) child.kill()
  }
}

interface UploadServer {
  readonly child: ChildProcess
  readonly port: number
}

async function open(role: string): Promise<UploadServer> {
  const child = openChild('upload-process.ts', role)
  const [{ port }] = (await once(child, 'message')) as [{ readonly port: number }]
  return { child, port }
}

async function report(child: ChildProcess): Promise<UploadReport> {
  const answer = once(child, 'message')
  child.send('report')
  return ((await answer) as [UploadReport])[0]
}

async function upload(port: number, size: number): Promise<void> {
  const sending = request({
    port,
    host: '127.0.0.1',
    path: '/upload',
    method: 'POST',
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': head.length + size + tail.length,
    },
  })
  const answered = once(sending, 'response')
  sending.write(head)
  for (let left = size; left > 0; left -= chunk.length)
    if (!sending.write(left < chunk.length ? chunk.subarray(0, left) : chunk)) await once(sending, 'drain')
  sending.end(tail)
  const [response] = (await answered) as [IncomingMessage]
  let text = ''
  for await (const part of response) text += String(part)
  assert.deepEqual([response.statusCode, JSON.parse(text)], [200, { size }])
}
