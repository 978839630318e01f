export { PgBoss } from 'pg-boss'
