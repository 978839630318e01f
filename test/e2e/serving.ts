import assert from 'node:assert/strict'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openProject, type RunOptions, type TestProject } from '../support/project.ts'
import type { RunningCli } from '../support/cli.ts'

/** `serve` in a process of its own. */
export interface Serving extends RunningCli {
  readonly port: number
}

/** Starts `serve` on a free port and waits until it listens. */
export async function startServe(host: TestProject, options?: RunOptions, more = ''): Promise<Serving> {
  const serving = host.start(`serve --port 0${more}`, options)
  const [, port] = await serving.waitFor(/Serving {4}http:\/\/localhost:(\d+)/)
  return { ...serving, port: Number(port) }
}

/** A folder without a project, as a host has it. */
export async function makeHost(env: Readonly<Record<string, string>>): Promise<TestProject> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-e2e-host-')))
  return openProject(folder, env, () => rm(folder, { recursive: true, force: true }))
}

export const secret = 'a-secret-of-more-than-thirty-two-characters'
export const baseUrl = 'http://api.example.com'

/** Fails when what people read holds a stack, or words that only a programmer of Waypost understands. */
export function assertCalm(text: string): void {
  assert.doesNotMatch(text, /^\s+at /m)
  assert.doesNotMatch(text, /\bundefined\b|\[object |node:internal/)
}
