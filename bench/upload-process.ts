// A process of `bench/uploads.ts`: one of the two servers.
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import Fastify from 'fastify'
import { openProjectServer } from '../test/support/project-server.ts'
import { loadPeer, type MultipartRequest } from './peers.ts'

/** How much the uploads of this process needed. */
export interface UploadReport {
  /** The most memory since the last report, in bytes. */
  readonly peak: number
  readonly current: number
}

const roles: Readonly<Record<string, () => Promise<number>>> = { waypost: serveWaypost, fastify: serveFastify }

if (import.meta.main) {
  const port = await roles[process.argv[2] ?? '']!()
  let peak = 0
  setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5)
  process.on('message', () => {
    process.send!({ peak, current: process.memoryUsage.rss() } satisfies UploadReport)
    peak = 0
  })
  process.send!({ port })
}

async function serveWaypost(): Promise<number> {
  const files = {
    'waypost.yml': `
routes:
  /upload:
    methods:
      POST:
        public: true
        body_limit: 210mb
        request:
          content:
            multipart/form-data:
              type: object
              required: [title, file]
              properties: { title: { type: string }, file: { type: file, maxSize: 200mb } }
        response: { type: object, properties: { size: { type: integer } } }
        action: src/upload.ts
`,
    'src/upload.ts':
      'export default class Upload {\n  async handle({ body }: any) {\n    return { size: body.file.size }\n  }\n}\n',
  }
  const server = await openProjectServer({ files, variables: { LOG_LEVEL: 'silent' } })
  return server.port
}

/** Does the same by hand: a temporary file until the response is sent. */
async function serveFastify(): Promise<number> {
  const { multipart } = await loadPeer('@fastify/multipart')
  const app = Fastify({ bodyLimit: 210 * 1024 ** 2 })
  await app.register(multipart, { limits: { fileSize: 200 * 1024 ** 2 } })
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-bench-uploads-'))
  let count = 0
  app.post('/upload', async (request, reply) => {
    let size = 0
    for await (const { file } of (request as unknown as MultipartRequest).parts()) {
      if (file === undefined) continue
      const target = path.join(folder, String((count += 1)))
      reply.raw.once('close', () => void rm(target, { force: true }))
      await pipeline(file, createWriteStream(target))
      size = (await stat(target)).size
    }
    return { size }
  })
  process.on('exit', () => void rm(folder, { recursive: true, force: true }))
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}
