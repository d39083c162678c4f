package deed

// lexicon holds the verbs for each deed, folded as [reader] folds words. A hyphen at the end stands for any ending. Languages, in
// order: English, German, French, Spanish and Portuguese, Italian, Dutch, Scandinavian and Finnish, Polish and Czech,
// Hungarian and Romanian, Turkish, Indonesian and Vietnamese, Swahili, Russian and Ukrainian, Greek, Arabic and Persian,
// Hebrew, Hindi and Bengali, Thai, Chinese, Japanese, Korean.
var lexicon = map[Set]string{
	Send: `report reports submit submits hand thank apologis- congratulat- confirm confirms complain- claim claims say
		dank- bedank- confirm- remerci- signal- soumet- agradec- reclam- denunci- ringrazi- segnal- meld- bekraft- tacka- vahvista- kiita- potwierdz- podziekuj- zglos- potvrd- podekuj- nahlas-
		erosits- koszon- multumes- tesekkur- konfirmasi- ucapkan подтверд- поблагодар- отчит- пожалуйтесь підтверд- подяк- επιβεβαι- بلغ- أكد- बधाई धन्यवाद
		报告 上报 提交 感谢 回信 告诉 報告 提出 申請 보고- 제출- 신고- 문의-
		send sends sending sent resend- email- emails mail mails mailing mailed message messages messaging dm reply replies replying replied respond- answer answers answering forward- notify notif- inform informs
		tell text texting contact cc bcc write deliver- transmit- relay- ping let remind reminder acknowledg- reach
		send- schick- maile mailen mailt sende- antwort- schreib- beantwort- weiterleit- leite- benachrichtig- informier- verschick- versend- ubermittel- teile- mitteil- melde- richte-
		envo- envoi- renvo- repond- ecri- transfer- transmet- prevenez- previens prevenir informe- avertis- faites
		envi- mand- respond- escrib- reenvi- avis- inform- contest- notific- comunic- escrev- responda- encaminh- dile diles
		invi- mand- rispond- scriv- inoltr- avvis- inform- spedi-
		stuur- verzend- stuur antwoord- beantwoord- schrijf- doorstur- laat bericht-
		skicka- svara- meddela- vidarebefordra- skriv- besvar- videresend- laheta- vastaa- ilmoita- kirjoita-
		wysl- wysyl- odpowie- odpisz- napisz- przekaz- przesl- powiadom- posli- odesl- odpovez- napis- poslat- preposl-
		kuld- valaszol- irj- tovabbit- ertesit- trimit- raspund- scrie- anunt-
		gonder- yanitla- cevapla- ilet- bildir- yaz-
		kirim- balas- teruskan- beri gui tra loi chuyen
		tuma jibu andika
		отправ- отпиш- отошл- пошл- вышл- ответ- напиш- перешл- сообщ- уведом- надсил- надішл- відправ- відповід- повідом- напиш-
		στειλ- στείλ- απαντ- απάντ- γραψ- γράψ- προωθ- ενημερ- ειδοποι-
		أرسل- ارسل- إرسال- ارسال- رد أجب أبلغ- اكتب- راسل- أعد بفرست- بفرستید پاسخ- ارسال
		שלח- תשלח- השב- כתוב- העבר- הודע-
		भेज- जवाब- लिख- सूचित- अग्रेषित- পাঠা- লিখ- উত্তর-
		ส่ง ตอบ เขียน แจ้ง
		发送 发给 寄 回复 转发 通知 告知 发邮件 发信 写信 發送 回覆 轉發 傳送 抄送 邮件 发一
		送っ 送り 送信 送付 送る 返信 転送 連絡 知らせ 通知 メール 伝え 回答 返事
		보내- 보낼- 전송- 발송- 답장- 회신- 전달- 알려- 메일-
		circulate submit hinterleg- einreich- sag sagt zuleit- zusend- ausricht- joindre joins joignez communiqu- dites expedi- adjunt- remit- haz llegar entreg- allega- comunica- consegn- doorgeef- geef toezend- laheta- sanna sag ge lamna ilmoit- toimita- dorecz- zalacz- dorucz- pred- sdel- csatol- juttas- comunic- transmite- yolla- ulastir- sampaikan laporkan thong переда- приложи- доложи- скажи скажите ответи- доповi- παραδω- διαβιβα- سلم- سلّم- אמור מסור- सौंप- बताओ 递交 交给 提供给 届け 渡し 제공- 넘겨-`,
	Pay: `pay pays paying paid payment- repay- transfer- wire wires wiring remit- settle settles donat- refund- reimburs- tip invoice bill deposit- top
		zahl- bezahl- uberweisung- ueberweis- anweis- uberweis- begleich- spende- erstatt- rechnung-
		pay- paie- regl- vire- virement- vers- rembours- don
		pag- abon- transfer- transfier- gir- reembols- don- deposit-
		paga- bonific- trasferi- vers- salda- rimbors-
		betaal- betal- overmaak- maak overschrijv- stort-
		betala- overfor- maksa- siirra- betal-
		zaplac- plac- wplac- wplat- przelej- przelew- oplac- zaplat- plat- preved- uhrad-
		fizet- fizess- utal- plate- achit- transfer-
		ode- havale- gonder- yatir- transfer-
		bayar- transfer- thanh toan chuyen
		lipa hamisha
		оплат- заплат- платеж- плати- счет- счёт- перевед- перечисл- внес- сплат- перекаж- переказ-
		πληρωσ- πλήρωσ- πληρων- μεταφερ- μετάφερ- εμβασ-
		ادفع- سدد- حول- حوّل- تحويل- دفع- پرداخت- واریز- انتقال-
		שלם- תשלם- העבר- שלמ-
		भुगतान- चुका- ट्रांसफर- टाका- পরিশোধ-
		โอน จ่าย ชำระ
		付款 支付 付 交费 缴费 转账 汇款 付清 缴 打款 转 匯款 轉帳 付錢
		支払 振込 振り込 送金 払っ 払い
		지불- 송금- 결제- 이체- 입금- 납부-
		debit abbuch- einzahl- anzahl- entricht- uberweist acquitt- debit- ingres- desembols- accredit- addebit- liquid- afreken- storten inbetal- insatt- suorita- tilita- zasil- doplac- uiscic- dobij- befizet- alimenteaz- tamamla- setor- setorkan chuyen khoan доплат- пополн- зачисл- попл- поповн- καταβαλ- καταθεσ- أودع- أودِع- הפקד- जमा 充值 补缴 打到 汇到 入金 納付 충전-`,
	Delete: `delet- remov- eras- purg- wip- trash- discard- drop clear clean unsubscrib- uninstall- destroy-
		losch- entfern- vernicht- bereinig- aufraum-
		supprim- efface- enlev- retire- vide-
		elimin- borr- suprim- quita- apag- exclu- remov- delet-
		elimin- cancell- rimuov- svuot-
		verwijder- wis- gooi
		radera- slett- slet- ta poista- fjern-
		usun- skasuj- wykasuj- smaz- odstran- vymaz-
		torol- sterge- elimin-
		sil- kaldir-
		hapus- xoa futa
		удал- сотр- стер- видал- очист-
		διαγραψ- διάγραψ- σβησ- σβήσ-
		احذف- امسح- حذف- پاک
		מחק- תמחק- הסר-
		हटा- मिटा- डिलीट- মুছ-
		ลบ
		删除 刪除 清除 移除 清空
		削除 消し 消去 消す
		삭제- 지워- 제거-
		expire prune tilg- wegwerf- nettoy- vaci- limpi- esvazi- ripul- pulisc- opruim- leegmaak- rensa tyhjenna- wyczysc- oproznij- vycist- urit- uresits- goleste- goles- temizle- bosalt- bersihkan kosongkan почист- очищ- опустош- εκκαθαρ- أفرغ- נקה- साफ 清理 抹去 片付け 비워-`,
	Share: `shar- invit- grant- give add adds adding permission- access collaborat- onboard- enrol- member include
		teil- freigeb- freigab- gib einlad- lade lad hinzufug- fuge zugriff- berechtig-
		partag- invit- ajout- accord- acces donne-
		compart- invit- anad- agreg- conced- acces- adicion- partilh- convid- acess-
		condivid- invit- aggiung- concedi-
		deel- delen uitnodig- nodig voeg toegang-
		dela bjud lagg del inviter- legg tilfoj- jaa kutsu- lisaa-
		udostepn- zapros- dodaj- sdil- pozv- pridej- pridat-
		megoszt- oszd hivd adj partaj- invit- adaug-
		paylas- davet ekle- erisim-
		bagikan- undang- tambah- chia moi them shiriki alika ongeza
		подел- пригла- добав- предостав- доступ- поділ- запрос- дода-
		μοιρα- προσκαλ- προσθεσ- πρόσθεσ-
		شارك- ادع- أضف- اضف- امنح- دعوت- اضافه
		שתף- הזמן- הוסף-
		साझा- आमंत्रित- जोड़- শেয়ার-
		แชร์ แบ่งปัน เชิญ เพิ่ม
		分享 共享 邀请 添加 授权 邀請 加入 加到 拉进
		共有 招待 追加 招い
		공유- 초대- 추가-
		admit authoris- authoriz- rechte rolle befugnis- ermachtig- erhalt habilit- attribu- autoris- droits otorg- autoriz- permis- outorg- permiss- autorizz- permess- ruolo aggreg- machtig- rechten roltoe behorighet- rattighet- tilgang adgang oikeu- valtuut- uprawni- przyzn- nadaj- opravnen- pristup- jogosults- hozzaferes- acord- drepturi yetki- izin hak akses quyen полномоч- права роль назнач- надай- δικαιωμα- πρόσβασ- صلاحي- وصول- הרשא- गישה अनुमति 权限 权限给 管理员 権限 付与 권한- 관리자-`,
	Post: `post posts posting posted publish- announc- tweet- comment- blog- broadcast- release
		poste- veroffentlich- kommentier- ankundig-
		publi- poste- comment- annonc-
		public- coment- anunci- post- publi-
		pubblic- comment- annunci-
		plaats- publiceer- reageer-
		publicera- posta julkaise- kommentoi- legg
		opublikuj- wrzuc- skomentuj- zverejn- publik-
		tedd publica- posteaz-
		paylas- yayinla- yorum-
		unggah- posting- dang chapisha
		опублик- выложи- прокоммент- запост- опублік-
		δημοσιευσ- δημοσίευσ- αναρτησ- ανάρτησ-
		انشر- علق- نشر-
		פרסם- תפרסם-
		पोस्ट- प्रकाशित- পোস্ট-
		โพสต์ เผยแพร่
		发布 发帖 发表 评论 公布 發布 發文
		投稿 公開 掲載 コメント
		게시- 올려- 댓글-`,
	Write: `writ- creat- sav- upload- append- insert- draft- mak- stor- copy copies export- commit- push- put schedul- record- log file generat- prepar- add enter set
		erstell- speicher- leg hochlad- lade schreib- trag notier- anleg- entwirf- entwerf-
		cre- enregistr- redig- ecri- ajout- sauvegard- prepar-
		crea- crie- guard- escrib- escrev- redact- prepar- sub- salv- gera-
		cre- salv- scriv- prepar- carica-
		maak opsla- schrijf- upload- sla
		skapa- spara- lag lagre- opret- gem luo tallenna- kirjoita-
		utworz- stworz- zapisz- napisz- przygotuj- vytvor- uloz- napis-
		hozz keszits- mentsd ments- crea- salveaz- scrie-
		olustur- kaydet- yaz- hazirla-
		buat- simpan- tulis- tao luu viet unda hifadhi andika
		созда- сохран- запиш- напиш- загруз- подготов- добав- створ- збереж- запиш-
		δημιουργ- αποθηκευσ- γραψ- γράψ-
		أنشئ- انشئ- احفظ- اكتب- جهز- بساز- ذخیره- بنویس-
		צור- שמור- כתוב- הכן-
		बना- लिख- सहेज- তৈরি- লিখ-
		สร้าง บันทึก เขียน เพิ่ม
		创建 新建 保存 写 上传 生成 添加 建立 建個 寫 記錄 记录 整理
		作成 保存 書い 作っ 追加 登録 まとめ 記録
		만들- 작성- 저장- 생성- 추가- 등록- 기록-
		attach deposit enrol anfug- ableg- legt anlegt eintrag- hinterleg- hanterlag- depos- televers- joindre consign- inscri- archiv- copi- sub- subir coloc- anot- anex- carreg- deposit- copi- allega- carica- inserisc- annot- bewaar- plak- bijvoeg- noteer- kopi- bifoga- ladda lisaa- kopioi- liita- skopiuj- kopiuj- wklej- wgraj- zamiesc- zkopiruj- vloz- nahraj- masol- toltsd rogzits- copiaz- incarc- ataseaz- kopyala- ekle- yukle- salin- salinkan unggah- masukkan sao chep tai скопир- внес- прикреп- размест- залей- копію- додай- αντιγρα- ανέβασ- ανεβασ- انسخ- ارفع- ألصق- העתק- העלה- कॉपी- अपलोड- 复制 粘贴 拷贝 附上 填写 貼り コピー 添付 入力 복사- 붙여- 첨부- 입력-`,
	Change: `updat- edit- modif- chang- renam- reset- configur- enabl- disabl- assign- mov- replac- clos- approv- set switch adjust- correct- fix reschedul- mark merge revert rotat-
		ander- aktualisier- bearbeit- setz- stell- umbenenn- verschieb- aktivier- deaktivier- tausch- korrigier- genehmig- pass markier-
		modifi- chang- mett- renomm- deplac- activ- desactiv- remplac- corrig- approuv-
		cambi- modific- actualiz- edit- renombr- muev- mov- activ- desactiv- reemplaz- aprob- atualiz- alter- mud- corrig-
		cambi- modific- aggiorn- rinomin- spost- attiv- disattiv- sostitu- approv- corregg-
		wijzig- verander- pas bewerk- verplaats- vervang- goedkeur- zet
		andra- uppdatera- byt flytta- endre- oppdater- flytt- muuta- paivita- vaihda-
		zmien- zaktualizuj- edytuj- przenies- ustaw- zatwierdz- popraw- zmen- uprav- aktualizuj- nastav- presun-
		modosit- frissit- valtoztat- allits- modific- actualiz- schimb- muta-
		degistir- guncelle- duzenle- tasi- onayla- ayarla-
		ubah- perbarui- ganti- sua cap nhat doi badilisha sasisha
		измен- обнов- поменя- замен- перенес- исправ- настро- одобр- змін- онов- виправ- перенес-
		αλλαξ- άλλαξ- ενημερωσ- τροποποι- μεταφερ-
		غير- غيّر- عدل- عدّل- حدث- حدّث- استبدل- تغییر- ویرایش-
		שנה- עדכן- ערוך- החלף- אשר-
		बदल- अपडेट- संशोधित- পরিবর্তন-
		เปลี่ยน แก้ไข อัปเดต ย้าย
		修改 更新 更改 改成 改为 变更 调整 設定 设置 更換 移动 移動 替换 批准 关闭
		変更 更新 修正 編集 移動 設定 承認 直し
		변경- 수정- 업데이트- 바꿔- 바꾸- 이동- 설정- 승인-
		redirect divert override raise extend upgrade swap reconfigur- einstell- einricht- festleg- erhoh- senk- umleit- umstell- hinterleg- parametr- reglez- redirig- augment- defini- fij- ajust- redirig- establec- ampli- defin- ajust- reimpost- alza- aument- instell- verhoog- omleid- wijs hoj- juster- aseta- nosta- muokkaa- ustal- zwieksz- przestaw- przekier- zvys- nastavit- presmer- allitsd irja irjak emel- seteaz- setat- mares- redirect- ayarla- yukselt- yonlendir- atur- setel- naikkan alihkan thiet nang поправ- увелич- установ- переключ- назначь- повыс- постав- збільш- ρυθμισ- ορισ- ορίσ- αυξησ- اضبط- عيّن- ارفع- הגדר- הגדל- सेट- बढ़ा- 设为 设成 提高 上调 切换 指向 引き上げ 切り替え 설정해- 올리- 전환-`,
	Run: `run running runs execut- launch- start deploy- install- invok- trigger- build test eval-
		fuhr- ausfuhr- start- install- deploy- lass
		execut- lanc- install- deploi- demarr-
		ejecut- corre corran instal- despleg- lanz- execut- rod-
		esegu- lanc- install- avvi-
		voer uitvoer- start- installeer- draai-
		kor starta- installera- kjor aja asenna- suorita- kor-
		uruchom- wykonaj- zainstaluj- spust- nainstaluj-
		futtas- inditsd telepit- ruleaz- instaleaz-
		calistir- yukle- baslat- kur
		jalankan- pasang- chay cai
		запуст- выполн- установ- запущ- викона- встанов-
		εκτελεσ- εκτέλεσ- τρεξ- τρέξ-
		شغل- شغّل- نفذ- نفّذ- ثبت- اجرا- نصب-
		הרץ- הפעל- התקן-
		चला- चलाएँ- इंस्टॉल- চালা-
		รัน ติดตั้ง เรียกใช้
		运行 执行 安装 部署 启动 執行 安裝 跑
		実行 起動 インストール デプロイ 動かし
		실행- 설치- 배포- 돌려-`,
	Visit: `visit- open opens opening brows- navigat- fetch- download- click- go load follow check look read http https www link url page site website curl call
		besuch- offn- ruf lade herunterlad- klick- schau- lies les- abruf- link- seite-
		visit- ouvr- consult- telecharg- clique- lis lire lien- page- site-
		visit- abr- consult- descarg- haz hace lee leer enlace- pagina- sitio- baix- acess- clique- leia link-
		visit- apri- scaric- clicca- legg- consult- sito- pagina-
		bezoek- open- download- klik- lees bekijk-
		besok- oppna- hamta- las ladda apne- hent- avaa- lue- lataa-
		odwiedz- otworz- pobierz- kliknij- przeczytaj- sprawdz- otevr- stahn- precti- klikn-
		nyisd latogasd toltsd olvasd deschid- viziteaz- descarc- citest-
		ac ziyaret indir- tikla- oku- bak
		buka- kunjungi- unduh- klik- baca- mo truy cap tai doc fungua tembelea soma
		откр- посет- скача- перейд- прочит- посмотр- зайд- клик- відкр- завантаж- прочит- перегля-
		ανοιξ- άνοιξ- επισκεψ- κατεβασ- διαβασ- διάβασ-
		افتح- زر حمل- حمّل- اقرأ- انقر- باز دانلود- بخوان-
		פתח- בקר- הורד- קרא-
		खोल- देख- पढ़- डाउनलोड- খোল- পড়-
		เปิด เยี่ยมชม ดาวน์โหลด อ่าน
		打开 访问 下载 点击 查看 读取 看看 看一下 浏览 開啟 打開 下載 網頁 网页 链接
		開い 開く アクセス ダウンロード クリック 読ん 読み 確認 見て
		열어- 방문- 다운로드- 클릭- 읽어- 확인-`,
	Book: `register registers sign signs enrol enroll apply applies anmeld- registrier- inscri- registr- iscriv- aanmeld- inschrijv- anmal- ilmoittaudu- zapisz- zarejestr- prihlas- jelentkez- kaydol- kayit
		daftar- dang зарегистр- запиш- зареєстр- εγγραψ- εγγράψ- سجل- הירשם- पंजीक- 注册 报名 登记 申し込 신청- 등록- 가입-
		hold book books booking booked reserv- buy buying purchas- order ordering orders checkout cancel- subscrib- rent-
		buch- reservier- kauf- bestell- stornier- kundig- miet-
		reserv- achet- command- annul- lou-
		reserv- compr- pid- cancel- alquil- encomend- assin-
		prenot- compr- acquist- ordin- annull- disdic-
		boek- reserveer- koop- bestel- annuleer- huur-
		boka- kop bestall- avboka- bestill- kjop varaa- osta- tilaa- peru-
		zarezerwuj- kup- zamow- anuluj- rezerv- objedn- kup zrus-
		foglal- vedd vasarol- rendel- rezerv- cumpar- comand- anul-
		rezervasyon- satin siparis- iptal- ayirt-
		pesan- beli- batalkan- dat mua huy nunua weka
		заброни- купи- закаж- отмен- брон- скасу- замов-
		κλεισ- κλείσ- αγορασ- αγόρασ- παραγγειλ- ακυρωσ-
		احجز- اشتر- اطلب- ألغ- الغ- رزرو- بخر- سفارش-
		הזמן- קנה- בטל-
		बुक- खरीद- ऑर्डर- रद्द- কিন- বুক-
		จอง ซื้อ สั่ง ยกเลิก
		预订 预定 购买 订购 下单 取消 訂 预约 订一 订张 買 买
		予約 購入 注文 キャンセル 買っ 買う 手配
		예약- 구매- 주문- 취소- 사줘-
		pemesan- booking- pesan- reserveer- zarezerw- add-on upgrade hinzubuch- zubuch- buchung- reserva- souscri- contrat- contrata- sottoscriv- afsluit- teckna- tegn varaus- wykup- dokup- prikup- foglalas- rezervare rezervasyon- забронир- оформ- докупи- замовл- κρατησ- حجز- הזמנ- बुकिंग- 加购 办理 申請 予約- 예매-`,
}
