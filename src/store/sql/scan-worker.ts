// A thread that runs statements that read many rows of a SQLite file, so that they do not block requests.
import { parentPort, workerData } from 'node:worker_threads'
import { clearBareEnvironment } from '../../kit/index.ts'
import { cutOff } from './row-bytes.ts'
import { SqliteHandle, type HandleOptions, type Row, type Statement } from './sqlite-handle.ts'

export interface ScanFile extends Omit<HandleOptions, 'readOnly'> {
  readonly file: string
}

export interface ScanResult {
  readonly rows?: readonly Row[]
  /** Whether there were more; cloning drops the mark. */
  readonly isCutOff?: boolean
  /** An error with the properties of SQLite's. Cloning an error would drop them. */
  readonly failure?: { readonly message: string; readonly code?: unknown; readonly errcode?: unknown }
}

clearBareEnvironment()
const { file, ...options } = workerData as ScanFile
let handle: SqliteHandle | undefined

parentPort!.on('message', (statement: Statement) => parentPort!.postMessage(run(statement), []))

function run(statement: Statement): ScanResult {
  try {
    handle ??= new SqliteHandle(file, { ...options, readOnly: true })
    const { rows } = handle.execute(statement)
    return { rows, isCutOff: cutOff in rows }
  } catch (error) {
    const { message, code, errcode } = error as NonNullable<ScanResult['failure']>
    return { failure: { message, code, errcode } }
  }
}
