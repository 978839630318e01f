import { scaled } from './scale.ts'
import { once } from 'node:events'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { atMost, beside, type Figure } from './goal.ts'
import { median } from './statistics.ts'
import type { TurnReport } from './turn-probe.ts'

const rounds = Number(process.env['WAYPOST_BENCH_ROUNDS'] ?? scaled(5))
const waitMs = 100

/** Measures the longest turn of a server, and how long its other callers wait, while something is done. */
export interface WaitMeter extends AsyncDisposable {
  /** @param limit of the milliseconds that the work takes */
  during(what: string, work: (round: number) => Promise<unknown>, limit?: number): Promise<Figure[]>
}

/** The variables of a process whose turns are measured. */
export function turnVariables(): Readonly<Record<string, string>> {
  const socket = path.join(tmpdir(), `waypost-turns-${process.pid}-${(count += 1)}.sock`)
  return { WAYPOST_BENCH_TURNS: socket, NODE_OPTIONS: `--import=${import.meta.resolve('./turn-probe.ts')}` }
}
let count = 0

/** @param variables those of the process, from `turnVariables` */
export function openMeter(
  port: number,
  { WAYPOST_BENCH_TURNS: socket = '' }: Readonly<Record<string, string>>,
): WaitMeter {
  const probe = new Worker(new URL('wait-probe.ts', import.meta.url), { workerData: { port } })
  const take = async () => {
    const answer = once(probe, 'message')
    probe.postMessage('longest', [])
    const report = JSON.parse(await text(connect(socket))) as TurnReport
    return { wait: ((await answer) as [number])[0], ...report }
  }
  return {
    async during(what, work, limit) {
      await work(-1)
      const found: Awaited<ReturnType<typeof take>>[] = []
      const times: number[] = []
      for (let round = 0; round < rounds; round++) {
        await pause(100)
        const before = await take()
        const began = performance.now()
        await work(round)
        times.push(performance.now() - began)
        await pause(10)
        const after = await take()
        found.push({ ...after, cpu: after.cpu - before.cpu })
      }
      const wait = median(found.map((one) => one.wait)).toFixed(0)
      const answered = `  answered in; the server computed for ${median(found.map((one) => one.cpu)).toFixed(0)} ms`
      const took = { value: median(times), unit: 'ms' }
      return [
        atMost(
          `${what}; others waited ${wait} ms`,
          { value: median(found.map((one) => one.turn)), unit: 'ms' },
          waitMs,
        ),
        limit === undefined ? beside(answered, took) : atMost(answered, took, limit),
      ]
    },
    [Symbol.asyncDispose]: async () => void (await probe.terminate()),
  }
}
