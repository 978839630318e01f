import { existsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isWaypostError, messageOf } from '../kit/index.ts'
import { checkTypes } from './check-types.ts'
import type { DevConsole } from './dev-console.ts'

/** Checks the types of a project in the background, in one process at a time. */
export interface TypeChecker {
  /** Checks after a moment without further calls. A check that runs is cancelled. */
  schedule(): void
  /** Cancels a check that runs or was scheduled: its files have changed. */
  cancel(): void
  close(): Promise<void>
}

export interface TypeCheckerOptions {
  readonly console: Pick<DevConsole, 'checkedTypes' | 'warned'>
  /** How long it waits for further saves; 300 ms by default. */
  readonly settleMs?: number
}

/** A project without `tsconfig.json` has no types to check. */
export function openTypeChecker(folder: string, { console, settleMs = 300 }: TypeCheckerOptions): TypeChecker {
  let current: AbortController | undefined
  let running: Promise<void> = Promise.resolve()
  let isOff = !existsSync(path.join(folder, 'tsconfig.json'))
  /** What was warned of, which is not repeated. */
  let warned = ''

  function warn(message: string): void {
    if (message !== warned && message !== '') console.warned(message)
    warned = message
  }

  async function check({ signal }: AbortController): Promise<void> {
    try {
      await pause(settleMs, undefined, { signal })
      const report = await checkTypes(folder, { signal, isBackground: true })
      warn(report.rest === '' ? '' : `TypeScript: ${report.rest}`)
      console.checkedTypes(report.diagnostics.map((one) => ({ ...one, severity: 'warning' })))
    } catch (error) {
      if (signal.aborted) return
      isOff = isWaypostError(error) && error.code === 'WP_PROJECT_NO_TYPESCRIPT'
      warn(
        isOff
          ? 'Types are not checked, because TypeScript is not installed in the project: npm install --save-dev typescript'
          : `Types were not checked: ${messageOf(error)}`,
      )
    }
  }

  return {
    schedule() {
      current?.abort()
      if (isOff) return
      const own = (current = new AbortController())
      running = running.then(() => check(own))
    },
    cancel: () => current?.abort(),
    async close() {
      isOff = true
      current?.abort()
      await running
    },
  }
}
