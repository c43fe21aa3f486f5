"""Why conversations cannot be kept or read: the causes of the store, with their cures."""

from __future__ import annotations

from ..cause import Cause
from ..errors import InvalidInput, SuyuanError


class StoreError(SuyuanError):
    """The place where conversations are kept cannot be used."""

    code = "StoreError"


STORE_BAD_ADDRESS = Cause(
    InvalidInput,
    "store_bad_address",
    "The address of the conversation store is not understood.",
    "无法识别会话存储的地址。",
    "Set store.url to sqlite:////path/to/chat.sqlite or postgresql://user:password@host/database, or leave it empty.",
    "请将 store.url 设为 sqlite:////路径/chat.sqlite 或 postgresql://用户:密码@主机/数据库,也可以留空。",
)
STORE_NO_DRIVER = Cause(
    StoreError,
    "store_no_driver",
    "The database driver {driver} is not installed.",
    "未安装数据库驱动 {driver}。",
    'Install it: pip install "psycopg[binary]"; or leave store.url empty to keep conversations in a file.',
    '请安装:pip install "psycopg[binary]";或将 store.url 留空,把会话保存在文件中。',
)
STORE_NOT_A_DATABASE = Cause(
    StoreError,
    "store_not_a_database",
    "{where} is not a database. It was left as it is.",
    "{where} 不是数据库文件。未对其做任何改动。",
    "Move the file away, or set store.url to another file.",
    "请将该文件移走,或将 store.url 指向其他文件。",
)
STORE_NOT_OURS = Cause(
    StoreError,
    "store_not_ours",
    "{where} is the database of another program. It was left as it is.",
    "{where} 是其他程序的数据库。未对其做任何改动。",
    "Set store.url to a file of its own.",
    "请将 store.url 指向单独的文件。",
)
STORE_TOO_NEW = Cause(
    StoreError,
    "store_too_new",
    "{where} was written by a newer version (schema {found}; this version knows {known}). It was left as it is.",
    "{where} 由更新的版本写入(结构版本 {found},本版本支持到 {known})。未对其做任何改动。",
    "Update suyuan, or set store.url to another file.",
    "请升级 suyuan,或将 store.url 指向其他文件。",
)
STORE_NOT_WRITABLE = Cause(
    StoreError,
    "store_not_writable",
    "{where} cannot be written: {why}",
    "无法写入 {where}:{why}",
    "Give this user the right to write there, or set store.url to a file in another folder.",
    "请为当前用户授予写入权限,或将 store.url 指向其他文件夹中的文件。",
)
STORE_FULL = Cause(
    StoreError,
    "store_full",
    "The disk that holds {where} is full. What was kept before is safe.",
    "{where} 所在的磁盘已满。此前保存的内容不受影响。",
    "Free some space, then try again.",
    "请清理磁盘空间后重试。",
    retryable=True,
)
STORE_DAMAGED = Cause(
    StoreError,
    "store_damaged",
    "{where} is damaged: {why}",
    "{where} 已损坏:{why}",
    "Copy the file first. Then read what can be saved: sqlite3 FILE .recover | sqlite3 NEW; or put a backup in its place.",
    "请先复制该文件。然后抢救可读的内容:sqlite3 FILE .recover | sqlite3 NEW;或用备份替换。",
)
STORE_BUSY = Cause(
    StoreError,
    "store_busy",
    "{where} has been busy with another program for {seconds} seconds.",
    "{where} 已被其他程序占用 {seconds} 秒。",
    "Close the program that holds it (a backup, a database viewer), then try again.",
    "请关闭占用它的程序(备份或数据库查看工具)后重试。",
    retryable=True,
)
STORE_UNREACHABLE = Cause(
    StoreError,
    "store_unreachable",
    "The database server {where} cannot be used: {why}",
    "无法使用数据库服务器 {where}:{why}",
    "Check that it runs, and that the host, port, user, password and database in store.url are right.",
    "请确认数据库正在运行,并检查 store.url 中的主机、端口、用户、密码和数据库名。",
    retryable=True,
)
STORE_NO_CONVERSATION = Cause(
    InvalidInput,
    "store_no_conversation",
    "There is no conversation {id!r}.",
    "没有会话 {id!r}。",
    "Choose one from the list, or begin a new one.",
    "请从列表中选择,或新建会话。",
)
