import { describePrograms } from '../docs/page-programs.ts'

describePrograms('Go', 'Java')
