import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { send } from '../test/support/send.ts'
import { jsonRows, shapes, texts } from './attack-process.ts'
import { atLeast, atMost, beside, type Figure } from './goal.ts'
import { isTiny, scaled } from './scale.ts'
import { median } from './statistics.ts'
import { ask, openServer, type BenchServer } from './turns.ts'

const rounds = Number(process.env['WAYPOST_BENCH_ROUNDS'] ?? scaled(5))
const kinds = (process.env['WAYPOST_BENCH_DATABASES'] ?? (isTiny ? 'sqlite' : 'sqlite,postgresql')).split(',')
const many = Number(process.env['WAYPOST_BENCH_CONNECTIONS'] ?? scaled(100, 6))
/** Fewer unread responses of 10 MB than fill the memory of a server. */
const few = 5
const waitMs = 100
/** After this, clients that have read nothing begin to read. */
const lateMs = Number(process.env['WAYPOST_BENCH_LATE_MS'] ?? scaled(20_000, 1000))
/** The memory that unread responses may take: those of 64 MB, before the next one is refused, and what they were made of. */
const unreadMb = 400

/** Measures how long others wait, and the memory of the server, while callers send and ask for what is expensive. */
export async function measureAttacks(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const kind of kinds) {
    const server = await openServer('attack-process.ts', kind)
    figures.push(...(await measureWaits(server, kind)))
    server.child.kill()
  }
  const crowds = [
    ['do not read', many],
    ['read one byte a second', many],
    ['read after a while', many],
    ['read after a while', few],
  ] as const
  for (const [reader, count] of crowds) {
    for (const kind of reader === 'read after a while' ? kinds : ['sqlite']) {
      const server = await openServer('attack-process.ts', kind)
      figures.push(...(await measureUnread(server, reader, count)))
      server.child.kill()
    }
  }
  return figures
}

async function measureWaits({ child, port }: BenchServer, kind: string): Promise<Figure[]> {
  const probe = new Worker(new URL('wait-probe.ts', import.meta.url), { workerData: { port } })
  const askBoth = async () => {
    const answer = once(probe, 'message')
    probe.postMessage('longest', [])
    const { longestMs: turn } = (await ask(child, 'turn')) as { readonly longestMs: number }
    return { wait: ((await answer) as [number])[0], turn }
  }
  const figures: Figure[] = []
  const during = async (what: string, work: () => Promise<string>, limit = waitMs) => {
    await work() // compiles what is compiled on first use
    const found: Awaited<ReturnType<typeof askBoth>>[] = []
    let answered = ''
    for (let round = 0; round < rounds; round += 1) {
      await pause(50)
      await askBoth()
      answered = await work()
      await pause(10)
      found.push(await askBoth())
    }
    const turn = { value: median(found.map((one) => one.turn)), unit: 'ms' }
    const wait = median(found.map((one) => one.wait)).toFixed(0)
    const name = `${kind}: ${what} (${answered}); others waited ${wait} ms`
    figures.push(limit === Infinity ? beside(name, turn) : atMost(name, turn, limit))
  }
  const get = async (path: string) => {
    const { status, text } = await send(port, { path })
    return `${status}, ${(text.length / 1024 / 1024).toFixed(1)} MB`
  }
  const post = async (path: string, body: string) => {
    const { status } = await send(port, { path, body, headers: { 'content-type': 'application/json' } })
    return String(status)
  }
  await during('nothing', async () => {
    await pause(200)
    return '-'
  })
  for (const [index, [name, json]] of Object.entries(shapes).slice(0, scaled(Infinity)).entries()) {
    const table = `app_json_${index}`
    if (kind === kinds[0]) {
      await during(`POST of unknown properties, ${name}`, () => post('/closed', `{"a":"","b":${json}}`))
      await during('  that alternatives do not have', () => post('/alternatives', `{"a":"","b":${json}}`))
    }
    await during(`POST of 1 MB to a JSON column, ${name}`, () => post(`/${table}`, `{"data":${json}}`))
    await during('  with limits of 1 MB', () => post('/lenient', `{"data":${json}}`), Infinity)
    await during('  list of 10 such rows', () => get(`/${table}?limit=10`))
    await during(`  list of ${jsonRows}`, () => get(`/${table}?limit=${jsonRows}`))
    await during('  three of these at once', async () => {
      const [one] = await Promise.all([1, 2, 3].map(() => get(`/${table}?limit=${jsonRows}`)))
      return one!
    })
    await during('  list with a declared response', () => get(`/declared/${table}?limit=${jsonRows}`))
    await during('  sql-query', () => get(`/query/${table}`))
  }
  await during('POST of many unknown keys', () => post('/closed', shapes['many keys']!))
  for (const [table, bytes] of Object.entries(texts).slice(0, scaled(Infinity))) {
    const kb = bytes / 1024
    await during(`list of 100 rows with ${kb} KB of text`, () => get(`/${table}?limit=100`))
    await during('  list with a declared response', () => get(`/declared/${table}?limit=100`))
    await during('  sql-query', () => get(`/query/${table}`))
  }
  await probe.terminate()
  return figures
}

/** How clients read. */
const readers = {
  'do not read': async (socket: Socket) => void socket.pause(),
  'read one byte a second': async (socket: Socket) => {
    socket.pause()
    for (let second = 0; second < lateMs / 1000 && !socket.destroyed; second += 1) {
      await pause(1000)
      socket.read(1)
    }
  },
  'read after a while': async (socket: Socket) => {
    socket.pause()
    await pause(lateMs)
    socket.resume()
  },
} satisfies Record<string, (socket: Socket) => Promise<void>>
type Reader = keyof typeof readers

async function measureUnread({ child, port }: BenchServer, reader: Reader, count: number): Promise<Figure[]> {
  const before = readMemory(child.pid!)
  let peak = before
  const watch = setInterval(() => (peak = Math.max(peak, readMemory(child.pid!))), 50)
  const clients = await Promise.all(Array.from({ length: count }, () => openClient(port, reader)))
  clearInterval(watch)
  for (const { socket } of clients) socket.destroy()
  const whole = clients.filter(({ isWhole }) => isWhole()).length
  const refused = clients.filter(({ status }) => status() === 503).length
  const name = `${count} clients ask for 10 MB and ${reader}`
  const memory = { value: peak - before, unit: 'MB' }
  return [
    atMost(`${name}: growth of memory`, memory, unreadMb),
    ...(reader === 'do not read' ? [] : [beside('  answered with 503', `${refused}`)]),
    ...(reader === 'read after a while'
      ? [atLeast('  others that got the whole answer', { value: whole, unit: '' }, count - refused)]
      : []),
  ]
}

async function openClient(port: number, reader: Reader) {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  let [received, head] = [0, '']
  socket.on('data', (part: Buffer) => {
    received += part.length
    if (head.length < 1000) head += part.toString('latin1')
  })
  socket.write('GET /app_text?limit=100 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  await readers[reader](socket)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  if (reader === 'read after a while') await Promise.race([closed, pause(lateMs)])
  else await pause(reader === 'do not read' ? lateMs : 0)
  const lengthOf = () => Number(/content-length: (\d+)/i.exec(head)?.[1])
  return {
    socket,
    status: () => Number(/^HTTP\/1.1 (\d+)/.exec(head)?.[1]),
    isWhole: () => received >= lengthOf() && head.startsWith('HTTP/1.1 200'),
  }
}

function readMemory(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
}
