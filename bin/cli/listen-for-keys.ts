import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The part of a terminal that provides keys. */
export interface KeyStream {
  readonly isTTY: boolean
  setRawMode(isRaw: boolean): unknown
  setEncoding(encoding: 'utf8'): unknown
  resume(): unknown
  pause(): unknown
  on(event: 'data', listener: (text: string) => void): unknown
  off(event: 'data', listener: (text: string) => void): unknown
}

export interface Keys {
  /** The action of each key, by its character; `\r` is the enter key. */
  readonly actions: Readonly<Record<string, () => void>>
  /** Sends a signal to the foreground processes, as the terminal does if it is not in raw mode. */
  send?(signal: NodeJS.Signals): void
}

/** Characters that the terminal converts to signals if it is not in raw mode. */
const signals: Readonly<Record<string, NodeJS.Signals>> = {
  '\u0003': 'SIGINT',
  '\u001C': 'SIGQUIT',
  '\u001A': 'SIGTSTP',
}

/** Calls an action for each key until stopped. Restores the terminal however the process ends. */
export function listenForKeys(input: KeyStream, { actions, send = sendToAll }: Keys): () => void {
  const onData = (text: string) => {
    const signal = signals[text.at(-1) ?? '']
    if (signal === 'SIGTSTP') return suspend()
    if (signal !== undefined) return send(signal)
    actions[text.toLowerCase()]?.() // pasted text is not a key
  }
  let isListening = false
  const begin = () => {
    if (isListening) return
    isListening = true
    input.setRawMode(true)
    input.on('data', onData)
    input.resume()
  }
  const end = () => {
    if (!isListening) return
    isListening = false
    input.off('data', onData)
    input.pause()
    try {
      input.setRawMode(false)
    } catch {
      // The terminal was closed.
    }
  }
  /** A background process must not touch the terminal, because that would stop it again. */
  const continued = () => {
    if (isInFront()) begin()
  }
  const suspend = () => {
    end()
    send('SIGTSTP')
  }
  input.setEncoding('utf8')
  begin()
  process.on('SIGCONT', continued)
  process.on('exit', end)
  return () => {
    process.off('SIGCONT', continued)
    process.off('exit', end)
    end()
  }
}

function sendToAll(signal: NodeJS.Signals): void {
  process.kill(process.platform === 'win32' ? process.pid : 0, signal)
}

/** Whether the shell runs this process in the foreground, so that keys are meant for it. */
export function isInFront(): boolean {
  if (process.platform === 'win32') return true
  try {
    if (process.platform === 'linux') return readsTerminal(readFileSync('/proc/self/stat', 'utf8'))
    return execFileSync('ps', ['-o', 'stat=', '-p', String(process.pid)], { encoding: 'utf8' }).includes('+')
  } catch {
    return true
  }
}

/**
 * @param stat as in proc(5): after the name in parentheses come state, parent, group, session, terminal and its group
 */
export function readsTerminal(stat: string): boolean {
  const [, , group, , , inFront] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return group === inFront
}
